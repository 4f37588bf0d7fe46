# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_sbom_dependencies
-------------------------
What a component is made of, with the versions that this configuration found, for the argument
``DEPENDS`` of ``fatlink_write_sbom``.

  fatlink_sbom_dependencies(<component> <out-var>)

The components are those of ``packaging``: ``runtime``, ``transforms``, ``development``, ``tests``. The
header-only libraries are compiled in: ``STATIC_LINK``. The program has the C++ run-time in it, and the
shared library and the link helper use the host's. Call it after the packages were found, in the same
scope or below.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/../detail/package/spdx_license.cmake")

function(fatlink_sbom_dependencies component out)
  if(ARGN)
    message(FATAL_ERROR "fatlink_sbom_dependencies(${component}): unknown argument: ${ARGN}")
  endif()
  set(items "")
  if(component STREQUAL "runtime")
    _fatlink_sbom_compiled_in(STATIC_LINK)
    _fatlink_sbom_item(CLI11 "${CLI11_VERSION}" STATIC_LINK)
    _fatlink_sbom_libraries(DYNAMIC_LINK)
    _fatlink_sbom_run_times()
    _fatlink_sbom_item(muParser "${muparser_VERSION}" OPTIONAL_DEPENDENCY_OF)
    _fatlink_sbom_item(nvJitLink "" OPTIONAL_DEPENDENCY_OF)
  elseif(component STREQUAL "development")
    _fatlink_sbom_compiled_in(STATIC_LINK)
    _fatlink_sbom_libraries(DEPENDS_ON)
  elseif(component STREQUAL "tests")
    _fatlink_sbom_compiled_in(STATIC_LINK)
    _fatlink_sbom_item(googletest "${GTest_VERSION}" STATIC_LINK)
    _fatlink_sbom_libraries(DYNAMIC_LINK)
  elseif(NOT component STREQUAL "transforms")
    message(FATAL_ERROR "fatlink_sbom_dependencies(${component}): no such component; there are runtime, "
      "transforms, development, tests")
  endif()
  if(NOT component STREQUAL "development")  # the others hold fatbins
    _fatlink_sbom_item("CUDA Toolkit" "${CUDAToolkit_VERSION}" BUILD_TOOL_OF)
  endif()
  set(${out} "${items}" PARENT_SCOPE)
endfunction()

# These append to the caller's `items`.
macro(_fatlink_sbom_item name version relationship)
  fatlink_spdx_license("${name}" license)
  list(APPEND items "${name}=${version}=${license}=${relationship}")
endmacro()

macro(_fatlink_sbom_compiled_in relationship)
  _fatlink_sbom_item(fmt "${fmt_VERSION}" ${relationship})
  _fatlink_sbom_item(nlohmann-json "${nlohmann_json_VERSION}" ${relationship})
endmacro()

macro(_fatlink_sbom_libraries relationship)
  _fatlink_sbom_item(zstd "${libzstd_VERSION}" ${relationship})
  _fatlink_sbom_item(lz4 "${liblz4_VERSION}" ${relationship})
  _fatlink_sbom_item(nettle "${nettle_VERSION}" ${relationship})
endmacro()

macro(_fatlink_sbom_run_times)
  set(gcc "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # another compiler's version is not its run-time's
    set(gcc "${CMAKE_CXX_COMPILER_VERSION}")
  endif()
  foreach(relationship IN ITEMS STATIC_LINK DYNAMIC_LINK)
    _fatlink_sbom_item(libstdc++ "${gcc}" ${relationship})
    _fatlink_sbom_item(libgcc "${gcc}" ${relationship})
  endforeach()
  _fatlink_sbom_item(glibc "" DYNAMIC_LINK)  # the host's
endmacro()
