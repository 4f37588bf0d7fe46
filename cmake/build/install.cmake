# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
install
-------
The install rules, by component, and the folders of GNUInstallDirs, by which the binaries find each other's files.

  fatlink_relative_install_folders()
  fatlink_relative_install_path(<from> <to> <out-var>)
  fatlink_write_install_layout(<header>)
  fatlink_add_install_rules()

``fatlink_relative_install_folders``
  Makes each absolute ``CMAKE_INSTALL_<dir>`` inside of ``CMAKE_INSTALL_PREFIX`` relative to the prefix, in the
  caller's scope, so that the install tree can be moved and ``cmake --install --prefix`` works.
``fatlink_relative_install_path``
  Gives the path from one folder to another: relative if both are in the prefix, else the absolute path of ``<to>``.
``fatlink_write_install_layout``
  Writes the header with the constants that ``environment.cpp`` uses.
``fatlink_add_install_rules``
  Adds the rules. A folder outside of ``CMAKE_INSTALL_PREFIX`` stays where it is when the tree is moved. The build tree has
  the same layout, with ``libexec`` and ``share``, so ``find_package(fatlink)`` works with the build tree, the install
  tree, and a moved install tree.

The components:

``runtime``
  The program, its helper, the shared library, the library fatbins, the manual page, the completions, README,
  LICENSE, and bundled third-party libraries if they are requested.
``transforms``
  The fatbins of the transforms, each with its ``.json``, and their linked images.
``development``
  Headers, the static library, the CMake package, ``fatlink.pc``, documentation and examples.  With ``FATLINK_WHEEL``
  no static library, documentation and examples.
``tests``
  fatlink's own tests and their fixtures (tests/install.cmake).
#]=======================================================================]
include_guard(GLOBAL)

macro(fatlink_relative_install_folders)
  foreach(_fatlink_name IN ITEMS BINDIR LIBDIR LIBEXECDIR INCLUDEDIR DATAROOTDIR DATADIR MANDIR DOCDIR)
    cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${CMAKE_INSTALL_${_fatlink_name}}" NORMALIZE _fatlink_inside)
    if(_fatlink_inside AND IS_ABSOLUTE "${CMAKE_INSTALL_${_fatlink_name}}")
      cmake_path(RELATIVE_PATH CMAKE_INSTALL_${_fatlink_name} BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
    endif()
  endforeach()
  unset(_fatlink_name)
  unset(_fatlink_inside)
endmacro()

function(fatlink_relative_install_path start end path_out)
  if(IS_ABSOLUTE "${start}" AND NOT IS_ABSOLUTE "${end}")
    cmake_path(ABSOLUTE_PATH end BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
  elseif(NOT IS_ABSOLUTE "${end}")
    file(RELATIVE_PATH end "/${start}" "/${end}")
  endif()
  string(REGEX REPLACE "/$" "" end "${end}")
  set(${path_out} "${end}" PARENT_SCOPE)
endfunction()

function(fatlink_write_install_layout header)
  set(programs "${CMAKE_INSTALL_BINDIR}")
  set(libraries "${CMAKE_INSTALL_LIBDIR}")
  set(helper "${CMAKE_INSTALL_LIBEXECDIR}")
  set(data "${CMAKE_INSTALL_DATADIR}/fatlink")
  foreach(path IN ITEMS programs_to_helper programs_to_data libraries_to_helper libraries_to_data helper_to_data)
    string(REPLACE "_to_" ";" folders "${path}")
    list(GET folders 0 start)
    list(GET folders 1 end)
    fatlink_relative_install_path("${${start}}" "${${end}}" ${path})
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/host/src/install_layout.hpp.in" "${header}" @ONLY)
endfunction()

function(fatlink_add_install_rules)
  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/bundle.cmake")
  if(FATLINK_WHEEL)
    _fatlink_install_wheel_targets()
  else()
    install(TARGETS fatlink_shared fatlink_static fatlink_program EXPORT fatlinkTargets
      RUNTIME COMPONENT runtime
      LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
      ARCHIVE COMPONENT development)
  endif()
  install(TARGETS fatlink_linkd RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
          "${PROJECT_SOURCE_DIR}/SECURITY.md"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
  fatlink_install_notices(runtime CLI/CLI.hpp fmt/format.h nlohmann/json.hpp)
  fatlink_install_notices(development fmt/format.h nlohmann/json.hpp)
  fatlink_bundle_libraries()
  # fatlink searches this folder, but the loader does not, so other programs do not pick the libraries up.
  fatlink_bundle_cuda(DESTINATION lib/fatlink COMPONENT runtime)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/host/include/fatlink" TYPE INCLUDE COMPONENT development)
  _fatlink_install_cmake_package()
  _fatlink_install_pkg_config()
endfunction()

# The targets as a Python wheel contains them (FATLINK_WHEEL). A wheel holds no symbolic links, and would contain the shared
# library three times: only the file that is named as the soname is installed, and libfatlink.so is a linker script, so that
# -lfatlink works. The CMake package names that file itself. There is no static library: it would need the libraries that the
# wheel bundles as development files.
function(_fatlink_install_wheel_targets)
  get_target_property(wheel_soversion fatlink_shared SOVERSION)
  set_target_properties(fatlink_shared PROPERTIES VERSION "${wheel_soversion}")
  install(TARGETS fatlink_shared fatlink_program EXPORT fatlinkTargets
    RUNTIME COMPONENT runtime
    LIBRARY COMPONENT runtime NAMELINK_SKIP)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/install_side/libfatlink.so" CONTENT
    "/* GNU ld script */\nINPUT(libfatlink.so.@wheel_soversion@)\n" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/install_side/libfatlink.so" TYPE LIB COMPONENT development)

  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/older_libraries.cmake")
  fatlink_use_older_libraries()
endfunction()

# The CMake package of the build tree and of the install tree: find_package(fatlink) finds either.
function(_fatlink_install_cmake_package)
  include(CMakePackageConfigHelpers)

  # Not in an architecture's folder: a project of device code enables no language, and CMake then does not search there.
  set(package_folder "lib/cmake/fatlink")
  install(EXPORT fatlinkTargets NAMESPACE fatlink:: DESTINATION "${package_folder}" COMPONENT development)
  export(EXPORT fatlinkTargets NAMESPACE fatlink::
    FILE "${PROJECT_BINARY_DIR}/lib/cmake/fatlink/fatlinkTargets.cmake")

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
endfunction()

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

# Installs fatlink.pc. Its paths are relative to the file if the install folders are inside of the prefix.
function(_fatlink_install_pkg_config)
  fatlink_relative_install_path("${CMAKE_INSTALL_LIBDIR}/pkgconfig" "" pc_prefix)
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
Description: @PROJECT_DESCRIPTION@ (C99, C++20)
Version: @PROJECT_VERSION@
Requires.private: libzstd liblz4 nettle
Libs: -L${libdir} -lfatlink
Libs.private: -ldl -pthread
Cflags: -I${includedir}
]])
  install(FILES "${PROJECT_BINARY_DIR}/install_side/fatlink.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endfunction()
