# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_package_parts
---------------------
Gives what an install component of fatlink contains and needs, with the versions that this configuration found: the
options ``--part`` of detail/sbom.py, which looks up licences, suppliers and package URLs.

  fatlink_package_parts(<component> <out-var>)

The components are those of ``install``: ``runtime``, ``development``, ``tests``. (``transforms`` has only the toolkit;
kernels/transforms/package.cmake states it.) Header-only libraries are compiled in (``STATIC_LINK``). The program contains
the C++ runtime; the shared library and the helper use the system's. Call the function after ``dependencies``, in the same
scope or below. An unknown component, and further arguments, stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_package_parts component out)
  if(ARGN)
    message(FATAL_ERROR "fatlink_package_parts(${component}): unknown argument: ${ARGN}")
  endif()
  set(parts "")
  if(component STREQUAL "runtime")
    _fatlink_header_parts()
    _fatlink_header_part(CLI11 "${CLI11_VERSION}" CLI/CLI.hpp)
    _fatlink_library_parts(DYNAMIC_LINK)
    _fatlink_run_time_parts()
    list(APPEND parts "nvJitLink==OPTIONAL_DEPENDENCY_OF=")
  elseif(component STREQUAL "development")
    _fatlink_header_parts()
    _fatlink_library_parts(DEPENDS_ON)
  elseif(component STREQUAL "tests")
    _fatlink_header_parts()
    _fatlink_header_part(googletest "${GTest_VERSION}" gtest/gtest.h)
    _fatlink_library_parts(DYNAMIC_LINK)
  else()
    message(FATAL_ERROR "fatlink_package_parts(${component}): no such component; the components are "
      "runtime, development, tests")
  endif()
  if(NOT component STREQUAL "development")  # the other components hold fatbins
    list(APPEND parts "CUDA Toolkit=${CUDAToolkit_VERSION}=BUILD_TOOL_OF=")
  endif()
  set(${out} "${parts}" PARENT_SCOPE)
endfunction()

# These macros append to the caller's `parts`: <name>=<version>=<relationship>=<file that the package holds>.
macro(_fatlink_header_part name version header)
  find_file(_fatlink_header "${header}" NO_CACHE)
  list(APPEND parts "${name}=${version}=STATIC_LINK=${_fatlink_header}")
  unset(_fatlink_header)
endmacro()

macro(_fatlink_header_parts)
  _fatlink_header_part(fmt "${fmt_VERSION}" fmt/format.h)
  _fatlink_header_part(nlohmann-json "${nlohmann_json_VERSION}" nlohmann/json.hpp)
endmacro()

# The files of the libraries are in the package if libraries are bundled.
macro(_fatlink_library_parts relationship)
  foreach(library IN ITEMS zstd lz4 nettle)
    set(module "lib${library}")
    if(library STREQUAL "nettle")
      set(module nettle)
    endif()
    set(bundled "")
    if(FATLINK_BUNDLE_LIBRARIES)
      list(GET ${module}_LINK_LIBRARIES 0 bundled)
    endif()
    list(APPEND parts "${library}=${${module}_VERSION}=${relationship}=${bundled}")
  endforeach()
endmacro()

# The static runtime libraries in the program, and the shared ones of the system.
macro(_fatlink_run_time_parts)
  set(gcc "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # for another compiler the version of its runtime is unknown
    set(gcc "${CMAKE_CXX_COMPILER_VERSION}")
  endif()
  foreach(library IN ITEMS libstdc++ libgcc)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${library}.a"
      OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND parts "${library}=${gcc}=STATIC_LINK=${archive}" "${library}=${gcc}=DYNAMIC_LINK=${archive}")
  endforeach()
  list(APPEND parts "glibc==DYNAMIC_LINK=")  # of the system
endmacro()
