# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_contract
--------------------
Declares a contract: the header with a library's hooks, under a name and a version.

  fatlink_add_contract(<name> VERSION <n> HEADER <file>)

``VERSION``
  A positive integer; raise it whenever a hook changes.
``HEADER``
  The header that declares the hooks. Relative to the current source directory.

Creates the interface target ``fatlink_contract_<name>``, whose properties
``FATLINK_CONTRACT_VERSION`` and ``FATLINK_CONTRACT_HEADER`` ``fatlink_add_fatbin``
reads. Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_add_contract name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;HEADER" "")
  set(me "fatlink_add_contract(${name})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${me}: unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${me}: a contract's name is letters, digits and underscores")
  endif()
  if(NOT arg_VERSION MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "${me}: VERSION must be a positive integer, not '${arg_VERSION}'")
  endif()
  if(NOT arg_HEADER)
    message(FATAL_ERROR "${me}: HEADER is missing")
  endif()
  cmake_path(ABSOLUTE_PATH arg_HEADER BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  if(NOT EXISTS "${arg_HEADER}" OR IS_DIRECTORY "${arg_HEADER}")
    message(FATAL_ERROR "${me}: HEADER ${arg_HEADER}: no such file")
  endif()

  add_library(fatlink_contract_${name} INTERFACE)
  set_target_properties(fatlink_contract_${name} PROPERTIES
    FATLINK_CONTRACT_VERSION "${arg_VERSION}" FATLINK_CONTRACT_HEADER "${arg_HEADER}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_CONTRACTS "${name}")
endfunction()
