# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
cmake_package
-------------
The CMake package ``fatlink`` of the build tree and of the install tree: ``find_package(fatlink)`` finds either.
#]=======================================================================]
include(CMakePackageConfigHelpers)

# Not in an architecture's folder: a project of device code enables no language, and CMake then does not search there.
set(package_folder "lib/cmake/fatlink")
install(EXPORT fatlinkTargets NAMESPACE fatlink:: DESTINATION "${package_folder}" COMPONENT development)
export(EXPORT fatlinkTargets NAMESPACE fatlink::
  FILE "${PROJECT_BINARY_DIR}/lib/cmake/fatlink/fatlinkTargets.cmake")

# Writes the config files of one tree to <folder>.
function(_fatlink_write_cmake_package folder prefix destination FATLINK_SHARE_DIR FATLINK_LIBEXEC_DIR)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/FatlinkConfig.cmake.in"
    "${folder}/fatlinkConfig.cmake" INSTALL_PREFIX "${prefix}"
    INSTALL_DESTINATION "${destination}" PATH_VARS FATLINK_SHARE_DIR FATLINK_LIBEXEC_DIR)
  write_basic_package_version_file("${folder}/fatlinkVersion.cmake" COMPATIBILITY SameMinorVersion)
  # CMake's error prints only PACKAGE_VERSION, so the remedy is appended to it.
  file(WRITE "${folder}/fatlinkConfigVersion.cmake" [[
include("${CMAKE_CURRENT_LIST_DIR}/fatlinkVersion.cmake")
if(NOT PACKAGE_VERSION_COMPATIBLE AND NOT PACKAGE_VERSION_UNSUITABLE)
  string(APPEND PACKAGE_VERSION "; install the package fatlink-development ${PACKAGE_FIND_VERSION}")
endif()
]])
endfunction()

set(functions FatlinkAddCacheLayer.cmake FatlinkAddContract.cmake FatlinkAddFatbin.cmake FatlinkAddPackage.cmake)
list(TRANSFORM functions PREPEND "${PROJECT_SOURCE_DIR}/cmake/")

_fatlink_write_cmake_package("${PROJECT_BINARY_DIR}/lib/cmake/fatlink" "${PROJECT_BINARY_DIR}" lib/cmake/fatlink
  share/fatlink libexec)
file(COPY ${functions} "${PROJECT_SOURCE_DIR}/cmake/detail" DESTINATION "${PROJECT_BINARY_DIR}/lib/cmake/fatlink")

set(install_side "${PROJECT_BINARY_DIR}/install_side")
_fatlink_write_cmake_package("${install_side}" "${CMAKE_INSTALL_PREFIX}" "${package_folder}"
  "${CMAKE_INSTALL_DATADIR}/fatlink" "${CMAKE_INSTALL_LIBEXECDIR}")
install(FILES "${install_side}/fatlinkConfig.cmake" "${install_side}/fatlinkConfigVersion.cmake"
              "${install_side}/fatlinkVersion.cmake" ${functions}
  DESTINATION "${package_folder}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/detail" DESTINATION "${package_folder}" COMPONENT development)
