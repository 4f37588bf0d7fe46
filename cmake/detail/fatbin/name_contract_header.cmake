# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_name_contract_header
----------------------------
What to add to nvcc's output where an error in it names a hook of the contract: the header and the lines in it
that declare the hook.  Empty where no error names a hook.

  fatlink_name_contract_header(<nvcc output> <contract/version> <header> <hooks as JSON> <out-var>)
#]=======================================================================]
include_guard(GLOBAL)

# "<header>(<line>): <text>" of the first line that declares the hook; the header alone where a macro does.
function(_fatlink_declaration_line header hook out)
  file(READ "${header}" text)
  string(REGEX REPLACE "[][;]" " " lines "${text}")  # no separators of CMake's lists
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
