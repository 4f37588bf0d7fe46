# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
older_libraries
---------------
Links the binaries of the Python wheel so that they run with glibc 2.28 and the libstdc++ of GCC 8 (manylinux_2_28: Red Hat 8,
Ubuntu 20.04 and newer), with the compiler and the libraries of a newer system.

  fatlink_use_older_libraries()

``FATLINK_OLDER_LIBRARIES``
  Option of the wheel. Default: on if the C library is glibc 2.34 to 2.37 and zstd has a static library; other versions of
  glibc were not tested. If off, the wheel needs libraries as new as those of the machine that builds it.
``fatlink_use_older_libraries``
  If the option is on:

  - The linker sees libraries without the newer symbols (older_libraries.py). What is missing is in host/wheel/older_symbols.cpp,
    or comes from the static libstdc++.
  - The programs run their constructors themselves (host/wheel/older_start.cpp).
  - The helper links libstdc++ statically, as the program does. libfatlink.so does not, because exceptions leave it.
  - libgcc, whose static form needs glibc 2.35, is shared.
  - zstd is linked statically, because that shared library of the system needs a newer glibc.
#]=======================================================================]
include_guard(GLOBAL)
include(CheckCXXSourceCompiles)

list(GET libzstd_LINK_LIBRARIES 0 fatlink_shared_zstd)
cmake_path(GET fatlink_shared_zstd PARENT_PATH fatlink_zstd_folder)
find_library(FATLINK_STATIC_ZSTD libzstd.a HINTS "${fatlink_zstd_folder}")
mark_as_advanced(FATLINK_STATIC_ZSTD)
check_cxx_source_compiles("#include <cstdlib>\n#if !__GLIBC_PREREQ(2, 34) || __GLIBC_PREREQ(2, 38)\n#error\n#endif\nint main() {}"
  FATLINK_HAS_TESTED_GLIBC)
set(fatlink_default OFF)
if(FATLINK_HAS_TESTED_GLIBC AND FATLINK_STATIC_ZSTD)
  set(fatlink_default ON)
endif()
option(FATLINK_OLDER_LIBRARIES "Link the wheel's binaries for glibc 2.28" ${fatlink_default})
unset(fatlink_default)
unset(fatlink_shared_zstd)
unset(fatlink_zstd_folder)

# Writes the libraries to <folder>, if the script is newer.
function(_fatlink_write_older_libraries folder)
  set(script "${PROJECT_SOURCE_DIR}/cmake/build/older_libraries.py")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
  if(NOT "${script}" IS_NEWER_THAN "${folder}/libc.so")
    return()
  endif()
  set(options "")
  if(CMAKE_SYSROOT)
    set(options "--option=--sysroot=${CMAKE_SYSROOT}")
  endif()
  set(python python3)
  if(Python3_EXECUTABLE)
    set(python "${Python3_EXECUTABLE}")
  endif()
  execute_process(COMMAND "${python}" -B "${script}" --compiler "${CMAKE_CXX_COMPILER}" ${options}
      --readelf "${CMAKE_READELF}" "${folder}"
    ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "FATLINK_OLDER_LIBRARIES: ${error}Turn the option off to link for this machine's libraries.")
  endif()
endfunction()

function(fatlink_use_older_libraries)
  if(NOT FATLINK_OLDER_LIBRARIES)
    return()
  endif()
  if(NOT FATLINK_STATIC_ZSTD)
    message(FATAL_ERROR "FATLINK_OLDER_LIBRARIES: libzstd.a was not found. Install zstd's static library (Debian: libzstd-dev), "
      "or turn the option off to link for this machine's libraries.")
  endif()
  set(folder "${PROJECT_BINARY_DIR}/older_libraries")
  _fatlink_write_older_libraries("${folder}")
  set_property(TARGET PkgConfig::libzstd PROPERTY INTERFACE_LINK_LIBRARIES "${FATLINK_STATIC_ZSTD}")
  set_property(GLOBAL PROPERTY FATLINK_STATICALLY_LINKED libzstd.so.1)

  add_library(fatlink_older_symbols OBJECT "${PROJECT_SOURCE_DIR}/host/wheel/older_symbols.cpp")
  set_target_properties(fatlink_older_symbols PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  target_compile_features(fatlink_older_symbols PRIVATE cxx_std_20)
  fatlink_warnings(fatlink_older_symbols)
  fatlink_harden(fatlink_older_symbols)
  foreach(target IN ITEMS fatlink_shared fatlink_program fatlink_linkd)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:fatlink_older_symbols>)
    target_link_options(${target} PRIVATE "-L${folder}" LINKER:--exclude-libs,ALL)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${folder}/libc.so")
  endforeach()
  foreach(target IN ITEMS fatlink_program fatlink_linkd)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/host/wheel/older_start.cpp")
    target_link_options(${target} PRIVATE -static-libstdc++ LINKER:--wrap=__libc_start_main)
  endforeach()
endfunction()
