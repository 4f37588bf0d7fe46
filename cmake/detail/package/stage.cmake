# SPDX-License-Identifier: Apache-2.0
# The last install rule of a component that is a package, once its PACKAGE, VERSION and other facts are
# set. Does nothing unless cpack runs it: adds the documents that packages carry, and makes modes and
# times the same everywhere. (CPACK_PRE_BUILD_SCRIPTS come too late: an archive's files are listed.)
if(NOT DEFINED ENV{FATLINK_PACKAGING})
  return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/documents.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom.cmake")

# What the umask was, and when it was built, is no part of a package.
function(fatlink_settle root)
  foreach(change IN ITEMS
      "-type;d;-exec;chmod;755;{};+" "-type;f;-perm;/111;-exec;chmod;755;{};+"
      "-type;f;-not;-perm;/111;-exec;chmod;644;{};+"
      "-exec;touch;--no-dereference;--date=@$ENV{SOURCE_DATE_EPOCH};{};+")
    execute_process(COMMAND find "${root}" ${change} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "$ENV{FATLINK_PACKAGING_PREFIX}/*$" "" staged "${root}")
# The files of other components, without the documents of their packages.
function(fatlink_install_components)
  foreach(component IN LISTS ARGN)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=FATLINK_PACKAGING
      "${CMAKE_COMMAND}" "-DCMAKE_INSTALL_COMPONENT=${component}"
      "-DCMAKE_INSTALL_PREFIX=${CMAKE_INSTALL_PREFIX}" -P "${BUILD}/cmake_install.cmake"
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()
if("$ENV{FATLINK_PACKAGING}" STREQUAL "TGZ")
  fatlink_install_components(${ARCHIVE_COMPONENTS})
endif()

set(documents "${root}/share/doc/${PACKAGE}")
file(MAKE_DIRECTORY "${documents}")
fatlink_write_documents("${documents}")
if("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB")
  file(REMOVE "${documents}/LICENSE")  # its text is in `copyright`
endif()
fatlink_compress_manuals("${root}/share/man")
if("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB" AND OVERRIDES)
  configure_file("${OVERRIDES}" "${root}/share/lintian/overrides/${PACKAGE}" COPYONLY)
endif()
fatlink_write_sbom("${documents}/${PACKAGE}.spdx.json" ROOT "${staged}" NAME "${PACKAGE}"
  VERSION "${VERSION}" SUMMARY "${SUMMARY}" LICENSE "${LICENSE_ID}" SUPPLIER "${SUPPLIER}" DEPENDS ${SBOM} LICENSES ${LICENSES})
fatlink_settle("${staged}")
