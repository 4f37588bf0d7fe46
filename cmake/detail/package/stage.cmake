# SPDX-License-Identifier: Apache-2.0
# Run by cpack when a kind of package is staged, one folder a component, before it is packed: adds the
# documents that packages carry, and makes modes and times the same everywhere.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/documents.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom.cmake")

# What the umask was, and who built it, is no part of a package.
function(fatlink_settle root)
  find_program(find NAMES find REQUIRED)
  foreach(change IN ITEMS
      "-type;d;-exec;chmod;755;{};+" "-type;f;-perm;/111;-exec;chmod;755;{};+"
      "-type;f;-not;-perm;/111;-exec;chmod;644;{};+"
      "-exec;touch;--no-dereference;--date=@$ENV{SOURCE_DATE_EPOCH};{};+")
    execute_process(COMMAND "${find}" "${root}" ${change} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(staged "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}")
  set(root "${staged}${CPACK_PACKAGING_INSTALL_PREFIX}")
  if(NOT IS_DIRECTORY "${root}")
    message(FATAL_ERROR "component ${component} of ${CPACK_PACKAGE_NAME} installs nothing")
  endif()
  set(package "${CPACK_FATLINK_${component}_PACKAGE}")
  fatlink_write_documents("${component}" "${root}/share/doc/${package}")
  fatlink_compress_manuals("${root}/share/man")
  if(CPACK_GENERATOR STREQUAL "DEB" AND CPACK_FATLINK_${component}_OVERRIDES)
    configure_file("${CPACK_FATLINK_${component}_OVERRIDES}"
      "${root}/share/lintian/overrides/${package}" COPYONLY)
  endif()
  fatlink_write_sbom("${root}/share/doc/${package}/${package}.spdx.json"
    ROOT "${staged}" NAME "${package}" VERSION "${CPACK_PACKAGE_VERSION}"
    SUMMARY "${CPACK_FATLINK_${component}_SUMMARY}"
    DEPENDS ${CPACK_FATLINK_${component}_SBOM})
  fatlink_settle("${staged}")
endforeach()
