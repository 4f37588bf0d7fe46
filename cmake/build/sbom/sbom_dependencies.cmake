# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_sbom_dependencies
-------------------------
Gives the dependencies of an install component, with the versions that this configuration found, for the argument
``DEPENDS`` of ``fatlink_write_sbom``.

  fatlink_sbom_dependencies(<component> <out-var>)

The components are those of ``install``: ``runtime``, ``transforms``, ``development``, ``tests``. Header-only libraries
are compiled in (``STATIC_LINK``). The program contains the C++ runtime; the shared library and the helper use the
system's. Call the function after ``dependencies``, in the same scope or below. An unknown component, and further
arguments, stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/../bundle/bundle_libraries.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/package_url.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../../detail/package/spdx_license.cmake")

function(fatlink_sbom_dependencies component out)
  if(ARGN)
    message(FATAL_ERROR "fatlink_sbom_dependencies(${component}): unknown argument: ${ARGN}")
  endif()
  set(items "")
  if(component STREQUAL "runtime")
    _fatlink_sbom_compiled_in(STATIC_LINK)
    _fatlink_sbom_header(CLI11 "${CLI11_VERSION}" CLI/CLI.hpp STATIC_LINK)
    _fatlink_sbom_libraries(DYNAMIC_LINK)
    _fatlink_sbom_run_times()
    _fatlink_sbom_item(nvJitLink "" OPTIONAL_DEPENDENCY_OF "")
  elseif(component STREQUAL "development")
    _fatlink_sbom_compiled_in(STATIC_LINK)
    _fatlink_sbom_libraries(DEPENDS_ON)
  elseif(component STREQUAL "tests")
    _fatlink_sbom_compiled_in(STATIC_LINK)
    _fatlink_sbom_header(googletest "${GTest_VERSION}" gtest/gtest.h STATIC_LINK)
    _fatlink_sbom_libraries(DYNAMIC_LINK)
  elseif(NOT component STREQUAL "transforms")
    message(FATAL_ERROR "fatlink_sbom_dependencies(${component}): no such component; the components are "
      "runtime, transforms, development, tests")
  endif()
  if(NOT component STREQUAL "development")  # the other components hold fatbins
    _fatlink_sbom_item("CUDA Toolkit" "${CUDAToolkit_VERSION}" BUILD_TOOL_OF "")
  endif()
  set(${out} "${items}" PARENT_SCOPE)
endfunction()

# These macros append to the caller's `items`. `file` is the file that the package holds; empty if it holds none.
macro(_fatlink_sbom_item name version relationship file)
  fatlink_spdx_license("${name}" license)
  fatlink_package_url("${name}" "${version}" "${file}" purl supplier)
  list(APPEND items "${name}=${version}=${license}=${relationship}=${supplier}=${purl}")
endmacro()

macro(_fatlink_sbom_header name version header relationship)
  find_file(_fatlink_header "${header}" NO_CACHE)
  _fatlink_sbom_item("${name}" "${version}" ${relationship} "${_fatlink_header}")
  unset(_fatlink_header)
endmacro()

macro(_fatlink_sbom_compiled_in relationship)
  _fatlink_sbom_header(fmt "${fmt_VERSION}" fmt/format.h ${relationship})
  _fatlink_sbom_header(nlohmann-json "${nlohmann_json_VERSION}" nlohmann/json.hpp ${relationship})
endmacro()

# A library whose file is in the package if libraries are bundled.
macro(_fatlink_sbom_library name version file relationship)
  set(bundled "")
  if(FATLINK_BUNDLE_LIBRARIES)
    set(bundled "${file}")
  endif()
  _fatlink_sbom_item("${name}" "${version}" ${relationship} "${bundled}")
endmacro()

macro(_fatlink_sbom_libraries relationship)
  _fatlink_sbom_library(zstd "${libzstd_VERSION}" "${libzstd_LINK_LIBRARIES}" ${relationship})
  _fatlink_sbom_library(lz4 "${liblz4_VERSION}" "${liblz4_LINK_LIBRARIES}" ${relationship})
  _fatlink_sbom_library(nettle "${nettle_VERSION}" "${nettle_LINK_LIBRARIES}" ${relationship})
endmacro()

# The static runtime libraries in the program, and the shared ones of the system.
macro(_fatlink_sbom_run_times)
  set(gcc "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # for another compiler the version of its runtime is unknown
    set(gcc "${CMAKE_CXX_COMPILER_VERSION}")
  endif()
  foreach(library IN ITEMS libstdc++ libgcc)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${library}.a"
      OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    foreach(relationship IN ITEMS STATIC_LINK DYNAMIC_LINK)
      _fatlink_sbom_item("${library}" "${gcc}" ${relationship} "${archive}")
    endforeach()
  endforeach()
  _fatlink_sbom_item(glibc "" DYNAMIC_LINK "")  # of the system
endmacro()
