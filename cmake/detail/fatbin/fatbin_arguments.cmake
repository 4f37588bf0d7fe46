# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatbin_arguments
----------------
Checks the arguments of ``fatlink_add_fatbin`` (``arg_<keyword>`` in the caller) and sets their defaults.

  _fatlink_check_fatbin_arguments(<caller>)
  _fatlink_check_architectures(<caller> <keyword>)
  _fatlink_check_floor(<caller> <toolkit>)

Sets ``arg_SOURCES``, ``arg_REFERENCE`` and ``arg_PLAN`` to absolute paths in the caller. ``_fatlink_check_architectures`` checks
the compute capabilities in ``arg_<keyword>`` only. ``_fatlink_check_floor`` warns if an nvJitLink of the version
``arg_NVJITLINK_AT_LEAST`` does not read what ``<toolkit>`` writes.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/../check_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/nvcc_options.cmake")

function(_fatlink_check_fatbin_arguments caller)
  _fatlink_check_source("${caller}")
  fatlink_check_nvcc_options("${caller}" "${arg_OPTIONS}")
  _fatlink_set_default(ARCHITECTURES 75)
  _fatlink_check_architectures("${caller}" ARCHITECTURES)
  _fatlink_check_sass("${caller}")
  _fatlink_set_default(OUTPUT_NAME "${target}")
  if(arg_OUTPUT_NAME MATCHES "[/\\]")
    message(FATAL_ERROR "${caller}: OUTPUT_NAME '${arg_OUTPUT_NAME}' must be a file name without a folder")
  endif()
  _fatlink_check_contract("${caller}")
  _fatlink_check_json("${caller}" REFERENCE)
  _fatlink_check_json("${caller}" PLAN)
  fatlink_check_install_component("${caller}")
  _fatlink_set_default(INSTALL_COMPONENT transforms)
  foreach(keyword IN ITEMS SOURCES ARCHITECTURES OUTPUT_NAME REFERENCE PLAN INSTALL_COMPONENT)
    set(arg_${keyword} "${arg_${keyword}}" PARENT_SCOPE)
  endforeach()
endfunction()

macro(_fatlink_set_default keyword value)
  if(NOT arg_${keyword})
    set(arg_${keyword} "${value}")
  endif()
endmacro()

function(_fatlink_check_source caller)
  list(LENGTH arg_SOURCES count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${caller}: SOURCES takes one file, not ${count}: a fatbin holds one translation unit; "
      "include the other files from it")
  endif()
  fatlink_find_file("${caller}" SOURCES)
  set(arg_SOURCES "${arg_SOURCES}" PARENT_SCOPE)
endfunction()

function(_fatlink_check_architectures caller keyword)
  set(known 75 80 86 87 88 89 90 100 103 107 110 120 121)  # nvcc --list-gpu-arch of CUDA 13.5; 107 from 13.4 on
  foreach(architecture IN LISTS arg_${keyword})
    if(NOT architecture MATCHES "^([0-9]+)([af]?)$")
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: expected a compute capability such as 75 or "
        "90a")
    endif()
    set(number "${CMAKE_MATCH_1}")
    set(suffix "${CMAKE_MATCH_2}")
    if(number LESS 75)
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: CUDA 13 supports 75 and newer")
    endif()
    if(NOT number IN_LIST known)
      list(JOIN known ", " numbers)
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: CUDA 13 has no such compute capability; it has "
        "${numbers}")
    endif()
    if((suffix STREQUAL "a" AND number LESS 90) OR (suffix STREQUAL "f" AND number LESS 100))
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: ${number} has no features with the suffix "
        "${suffix}; write ${number}")
    endif()
  endforeach()
  fatlink_check_duplicates("${caller}" ${keyword})
endfunction()

# nvcc cannot write both sm_100 and sm_100f.
function(_fatlink_check_sass caller)
  _fatlink_check_architectures("${caller}" SASS)
  foreach(architecture IN LISTS arg_SASS)
    if("${architecture}f" IN_LIST arg_SASS)
      message(FATAL_ERROR "${caller}: SASS lists ${architecture} and ${architecture}f, which nvcc cannot write to one "
        "fatbin; remove one of them")
    endif()
  endforeach()
endfunction()

function(_fatlink_check_floor caller toolkit)
  if(NOT DEFINED arg_NVJITLINK_AT_LEAST)
    return()
  endif()
  set(floor "${arg_NVJITLINK_AT_LEAST}")
  if(NOT floor MATCHES "^13\\.[0-9]+$")
    message(FATAL_ERROR "${caller}: NVJITLINK_AT_LEAST '${floor}': expected a version of CUDA 13 such as 13.0")
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" version "${toolkit}")
  if(version VERSION_GREATER floor)
    message(WARNING "${caller}: nvJitLink ${floor} (NVJITLINK_AT_LEAST) does not read the LTO-IR of CUDA ${version}, which "
      "compiles this fatbin. Compile with CUDA ${floor}, or state NVJITLINK_AT_LEAST ${version}")
  endif()
endfunction()

function(_fatlink_check_contract caller)
  if(NOT arg_CONTRACT OR TARGET fatlink_contract_${arg_CONTRACT})
    return()
  endif()
  get_property(contracts GLOBAL PROPERTY FATLINK_CONTRACTS)
  list(REMOVE_DUPLICATES contracts)
  list(JOIN contracts ", " contracts)
  message(FATAL_ERROR "${caller}: unknown CONTRACT ${arg_CONTRACT}. Call fatlink_add_contract(${arg_CONTRACT} ...) "
    "first, or add the prefix where its library is installed to CMAKE_PREFIX_PATH before find_package(fatlink). "
    "Known contracts: ${contracts}")
endfunction()

function(_fatlink_check_json caller keyword)
  if(arg_${keyword})
    fatlink_find_file("${caller}" ${keyword})
    set(arg_${keyword} "${arg_${keyword}}" PARENT_SCOPE)
  endif()
endfunction()
