# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_name_contract_header
----------------------------
Gives the lines to add to nvcc's output when an error in it names a hook of the contract: the header and the line
that declares the hook. Empty when no error names a hook.

  fatlink_name_contract_header(<nvcc output> <contract/version> <header> <hooks as JSON> <out-var>)
#]=======================================================================]
include_guard(GLOBAL)

# "<header>(<line>): <text>" of the first line that declares the hook, or only the header if a macro declares it.
function(_fatlink_declaration_line header hook out)
  file(READ "${header}" text)
  string(REGEX REPLACE "[][;]" " " lines "${text}")  # characters with a meaning in CMake lists
  string(REPLACE "\n" ";" lines "${lines}")
  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "(^|[^A-Za-z0-9_])${hook}[ \t]*[(]" AND NOT line MATCHES "^[ \t]*(//|[*]|/[*])")
      string(REGEX REPLACE "[ \t\r]+$" "" line "${line}")
      set(${out} "${header}(${number}): ${line};" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "${header}" PARENT_SCOPE)
endfunction()

function(fatlink_name_contract_header output contract header hooks out)
  set(text "")
  string(JSON count ERROR_VARIABLE ignored LENGTH "${hooks}")
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON hook MEMBER "${hooks}" ${index})
    if(output MATCHES "error[^\n]*[^A-Za-z0-9_]${hook}([^A-Za-z0-9_]|$)")
      _fatlink_declaration_line("${header}" ${hook} line)
      string(APPEND text "fatlink: contract ${contract} declares ${hook} in ${line}\n")
    endif()
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
