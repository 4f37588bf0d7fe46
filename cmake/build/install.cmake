# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
packaging
---------
What is installed, by component, and the same layout in the build tree, so that
``find_package(fatlink)`` works from either, and from an install tree that was moved. The install
folders are those of GNUInstallDirs. One that lies outside of ``CMAKE_INSTALL_PREFIX`` stays where it is
when the tree is moved; the build tree always has ``libexec`` and ``share``.

``runtime``      the program, its helper, the shared library, the library fatbins, the manual page, the
                 shells' completions, README and LICENSE; on request libraries of others
``transforms``   the transforms' fatbins, each with its ``.json``, and their links ready made
``development``  headers, static library, CMake package, contracts, ``fatlink.pc``
``tests``        fatlink's own tests, and what they read
#]=======================================================================]
include(CMakePackageConfigHelpers)
include("${CMAKE_CURRENT_LIST_DIR}/bundle/bundle_libraries.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/bundle/notices.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/bundle/redistributable.cmake")

# Not in the folder of an architecture: a project without a language, of device code alone, knows none.
set(package_dir "lib/cmake/fatlink")

install(TARGETS fatlink_shared fatlink_static fatlink_program EXPORT fatlinkTargets
  RUNTIME COMPONENT runtime
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
install(TARGETS fatlink_linkd RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}" COMPONENT runtime)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
        "${PROJECT_SOURCE_DIR}/SECURITY.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
fatlink_install_notices(runtime CLI/CLI.hpp fmt/format.h nlohmann/json.hpp)
fatlink_install_notices(development fmt/format.h nlohmann/json.hpp)
fatlink_bundle_libraries()
# Where the program looks, and the loader does not: it is not offered to other programs.
fatlink_bundle_cuda(DESTINATION lib/fatlink COMPONENT runtime)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/host/include/fatlink" TYPE INCLUDE COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/docs/json.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/schemas" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT development)
install(EXPORT fatlinkTargets NAMESPACE fatlink:: DESTINATION "${package_dir}"
  COMPONENT development)
export(EXPORT fatlinkTargets NAMESPACE fatlink::
  FILE "${PROJECT_BINARY_DIR}/lib/cmake/fatlink/fatlinkTargets.cmake")

# fatlink_package(<folder> <prefix> <destination> <data> <libexec>): the config files of one tree.
function(fatlink_package folder prefix destination FATLINK_SHARE_DIR FATLINK_LIBEXEC_DIR)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/FatlinkConfig.cmake.in"
    "${folder}/fatlinkConfig.cmake" INSTALL_PREFIX "${prefix}"
    INSTALL_DESTINATION "${destination}" PATH_VARS FATLINK_SHARE_DIR FATLINK_LIBEXEC_DIR)
  write_basic_package_version_file("${folder}/fatlinkVersion.cmake" COMPATIBILITY SameMinorVersion)
  # CMake's refusal has room for a version alone: it says there what to install.
  file(WRITE "${folder}/fatlinkConfigVersion.cmake" [[
include("${CMAKE_CURRENT_LIST_DIR}/fatlinkVersion.cmake")
if(NOT PACKAGE_VERSION_COMPATIBLE AND NOT PACKAGE_VERSION_UNSUITABLE)
  string(APPEND PACKAGE_VERSION "; install the package fatlink-development ${PACKAGE_FIND_VERSION}")
endif()
]])
endfunction()
set(build_side FatlinkAddCacheLayer.cmake FatlinkAddContract.cmake FatlinkAddFatbin.cmake
  FatlinkAddPackage.cmake)
list(TRANSFORM build_side PREPEND "${PROJECT_SOURCE_DIR}/cmake/")

# The build tree: as if installed to it.
fatlink_package("${PROJECT_BINARY_DIR}/lib/cmake/fatlink" "${PROJECT_BINARY_DIR}" lib/cmake/fatlink
  share/fatlink libexec)
file(COPY ${build_side} "${PROJECT_SOURCE_DIR}/cmake/detail"
  DESTINATION "${PROJECT_BINARY_DIR}/lib/cmake/fatlink")

# The install tree.
fatlink_package("${PROJECT_BINARY_DIR}/install_side" "${CMAKE_INSTALL_PREFIX}" "${package_dir}"
  "${CMAKE_INSTALL_DATADIR}/fatlink" "${CMAKE_INSTALL_LIBEXECDIR}")
install(FILES "${PROJECT_BINARY_DIR}/install_side/fatlinkConfig.cmake"
              "${PROJECT_BINARY_DIR}/install_side/fatlinkConfigVersion.cmake"
              "${PROJECT_BINARY_DIR}/install_side/fatlinkVersion.cmake" ${build_side}
  DESTINATION "${package_dir}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/detail" DESTINATION "${package_dir}"
  COMPONENT development)

# pkg-config: relative to the file, as far as the folders are in the prefix.
fatlink_install_way("${CMAKE_INSTALL_LIBDIR}/pkgconfig" "" pc_prefix)
if(NOT IS_ABSOLUTE "${pc_prefix}")
  string(PREPEND pc_prefix "\${pcfiledir}/")
endif()
foreach(folder IN ITEMS LIBDIR INCLUDEDIR LIBEXECDIR DATADIR)
  set(pc_${folder} "${CMAKE_INSTALL_${folder}}")
  if(NOT IS_ABSOLUTE "${pc_${folder}}")
    set(pc_${folder} "\${prefix}/${pc_${folder}}")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/install_side/fatlink.pc" @ONLY CONTENT [[
prefix=@pc_prefix@
libdir=@pc_LIBDIR@
includedir=@pc_INCLUDEDIR@
sharedir=@pc_DATADIR@/fatlink
link_helper=@pc_LIBEXECDIR@/fatlink-linkd

Name: fatlink
Description: @PROJECT_DESCRIPTION@ (C++20)
Version: @PROJECT_VERSION@
Requires.private: libzstd liblz4 nettle
Libs: -L${libdir} -lfatlink
Libs.private: -ldl -pthread
Cflags: -I${includedir}
]])
install(FILES "${PROJECT_BINARY_DIR}/install_side/fatlink.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
