# SPDX-License-Identifier: Apache-2.0
# The last install rule of a packaged component; included by <build>/packages/<package>.cmake, which sets PACKAGE,
# VERSION and the other settings. Does nothing unless cpack runs it. Adds the documents of the package and sets
# modes and times of its files. (CPACK_PRE_BUILD_SCRIPTS run too late: the files of an archive are listed by then.)
if(NOT DEFINED ENV{FATLINK_PACKAGING})
  return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/documents.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom.cmake")

# Makes the modes and times of all files independent of the umask and the time of the build.
function(fatlink_set_modes_and_times root)
  foreach(action IN ITEMS
      "-type;d;-exec;chmod;755;{};+" "-type;f;-perm;/111;-exec;chmod;755;{};+"
      "-type;f;-not;-perm;/111;-exec;chmod;644;{};+"
      "-exec;touch;--no-dereference;--date=@$ENV{SOURCE_DATE_EPOCH};{};+")
    execute_process(COMMAND find "${root}" ${action} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "$ENV{FATLINK_PACKAGING_PREFIX}/*$" "" staged "${root}")
# Installs the files of other components, without the documents of their packages.
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
  file(REMOVE "${documents}/LICENSE")  # its text is in the file copyright
endif()
fatlink_compress_manuals("${root}/share/man")
if("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB" AND OVERRIDES)
  configure_file("${OVERRIDES}" "${root}/share/lintian/overrides/${PACKAGE}" COPYONLY)
endif()
fatlink_write_sbom("${documents}/${PACKAGE}.spdx.json" ROOT "${staged}" NAME "${PACKAGE}"
  VERSION "${VERSION}" SUMMARY "${SUMMARY}" LICENSE "${LICENSE_ID}" SUPPLIER "${SUPPLIER}"
  DEPENDS "${SBOM}" LICENSES "${LICENSES}")
fatlink_set_modes_and_times("${staged}")
