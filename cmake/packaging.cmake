# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
packaging
---------
What is installed, by component, and the same layout in the build tree, so that
``find_package(fatlink)`` works from either, and from an install tree that was moved.

``runtime``      the program, its helper, the shared library, the library fatbins
``transforms``   the transforms' fatbins, each with its ``.json``
``development``  headers, static library, CMake package, contracts, ``fatlink.pc``
#]=======================================================================]
include(CMakePackageConfigHelpers)
include("${CMAKE_CURRENT_LIST_DIR}/packaging/bundle_libraries.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/packaging/redistributable.cmake")

set(FATLINK_CONTRACTS_DIR "${CMAKE_INSTALL_DATADIR}/fatlink/contracts")
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/fatlink")

install(TARGETS fatlink_shared fatlink_static fatlink_program EXPORT fatlinkTargets
  RUNTIME COMPONENT runtime
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
install(TARGETS fatlink_linkd RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}" COMPONENT runtime)
fatlink_bundle_libraries()
fatlink_bundle_cuda(DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/host/include/fatlink" TYPE INCLUDE COMPONENT development)
install(EXPORT fatlinkTargets NAMESPACE fatlink:: DESTINATION "${package_dir}"
  COMPONENT development)
export(EXPORT fatlinkTargets NAMESPACE fatlink::
  FILE "${PROJECT_BINARY_DIR}/lib/cmake/fatlink/fatlinkTargets.cmake")

# fatlink_package(<folder> <prefix> <destination>): the config files as they are for one tree.
function(fatlink_package folder prefix destination)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/FatlinkConfig.cmake.in"
    "${folder}/fatlinkConfig.cmake" INSTALL_PREFIX "${prefix}"
    INSTALL_DESTINATION "${destination}" PATH_VARS FATLINK_CONTRACTS_DIR)
  write_basic_package_version_file("${folder}/fatlinkConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
endfunction()
set(build_side FatlinkAddContract.cmake FatlinkAddFatbin.cmake)
list(TRANSFORM build_side PREPEND "${PROJECT_SOURCE_DIR}/cmake/")

# The build tree: as if installed to it.
fatlink_package("${PROJECT_BINARY_DIR}/lib/cmake/fatlink" "${PROJECT_BINARY_DIR}" lib/cmake/fatlink)
file(COPY ${build_side} "${PROJECT_SOURCE_DIR}/cmake/detail"
  DESTINATION "${PROJECT_BINARY_DIR}/lib/cmake/fatlink")

# The install tree.
fatlink_package("${PROJECT_BINARY_DIR}/install_side" "${CMAKE_INSTALL_PREFIX}" "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/install_side/fatlinkConfig.cmake"
              "${PROJECT_BINARY_DIR}/install_side/fatlinkConfigVersion.cmake" ${build_side}
  DESTINATION "${package_dir}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/detail" DESTINATION "${package_dir}"
  COMPONENT development)

# Contracts: the header, and a file that declares it, relative to where it lies.
get_property(contracts GLOBAL PROPERTY FATLINK_CONTRACTS)
foreach(contract IN LISTS contracts)
  get_target_property(version fatlink_contract_${contract} FATLINK_CONTRACT_VERSION)
  get_target_property(header fatlink_contract_${contract} FATLINK_CONTRACT_HEADER)
  set(folder "${PROJECT_BINARY_DIR}/share/fatlink/contracts")
  cmake_path(GET header FILENAME name)
  file(COPY "${header}" DESTINATION "${folder}")
  file(CONFIGURE OUTPUT "${folder}/${contract}.cmake" @ONLY CONTENT [[
if(NOT TARGET fatlink_contract_@contract@)
  fatlink_add_contract(@contract@ VERSION @version@ HEADER "${CMAKE_CURRENT_LIST_DIR}/@name@")
endif()
]])
  install(FILES "${folder}/${contract}.cmake" "${header}" DESTINATION "${FATLINK_CONTRACTS_DIR}"
    COMPONENT development)
endforeach()

# pkg-config: relative to where the file lies.
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/install_side/fatlink.pc" @ONLY CONTENT [[
prefix=${pcfiledir}/@prefix_from_pc@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: fatlink
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires.private: libzstd liblz4 nettle
Libs: -L${libdir} -lfatlink
Libs.private: -ldl -pthread
Cflags: -I${includedir}
]])
install(FILES "${PROJECT_BINARY_DIR}/install_side/fatlink.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
