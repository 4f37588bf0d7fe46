# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_scan_hooks
------------------
Gives the names of the hooks in a contract's header: the device functions that it declares ``extern "C"``, singly or
in a block. Preprocessor conditions are not evaluated, and macros are not expanded.

  fatlink_scan_hooks(<text> <out-var>)
#]=======================================================================]
include_guard(GLOBAL)

# The tokens of a text without comments, preprocessor lines and string literals, and without list separators.
function(_fatlink_tokens text out)
  string(REPLACE "\\\n" " " text "${text}")
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" " " text "${text}")
  string(REGEX REPLACE "//[^\n]*" " " text "${text}")
  string(REGEX REPLACE "(^|\n)[ \t]*#[^\n]*" "\n" text "${text}")
  string(REGEX REPLACE "extern[ \t\r\n]+\"C\"" " extern_C " text "${text}")
  string(REGEX REPLACE "\"[^\"\n]*\"" " " text "${text}")
  foreach(character IN ITEMS "[" "]" "\\")
    string(REPLACE "${character}" " " text "${text}")
  endforeach()
  string(REPLACE ";" " end_of_statement " text "${text}")
  string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[^A-Za-z0-9_ \t\r\n]" tokens "${text}")
  set(${out} "${tokens}" PARENT_SCOPE)
endfunction()

# The function that a statement declares: the name before its first parameter list. Empty if it declares none.
function(_fatlink_declared_hook statement out)
  set(${out} "" PARENT_SCOPE)
  if(NOT "__device__" IN_LIST statement)
    return()
  endif()
  foreach(specifier IN ITEMS static template typedef using __global__)
    if(specifier IN_LIST statement)
      return()
    endif()
  endforeach()
  # Attributes may have parentheses, which must not be taken for the parameter list.
  list(JOIN statement " " text)
  string(REGEX REPLACE "(__attribute__|__declspec|alignas|__launch_bounds__) [(][^()]*([(][^()]*([(][^()]*[)][^()]*)*[)][^()]*)*[)]" " "
    text "${text}")
  if(text MATCHES "([A-Za-z_][A-Za-z0-9_]*) [(]")
    set(name "${CMAKE_MATCH_1}")
    if(NOT text MATCHES "^[^(]*[(] [*&]")  # a variable: a pointer to a function
      set(${out} "${name}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(fatlink_scan_hooks text out)
  _fatlink_tokens("${text}" tokens)
  set(hooks "")
  set(statement "")
  set(blocks "")  # kind of each open block: C (extern "C"), outer (namespace) or body (function, class)
  set(bodies 0)   # number of open blocks of kind body
  foreach(token IN LISTS tokens)
    if(token STREQUAL "}")
      list(POP_BACK blocks block)
      if(block STREQUAL "body")
        math(EXPR bodies "${bodies} - 1")
      endif()
      set(statement "")
    elseif(token STREQUAL "{" OR token STREQUAL "end_of_statement")
      if(bodies EQUAL 0 AND ("extern_C" IN_LIST statement OR "C" IN_LIST blocks))
        _fatlink_declared_hook("${statement}" hook)
        list(APPEND hooks ${hook})
      endif()
      if(token STREQUAL "{")
        if("${statement}" STREQUAL "extern_C")
          list(APPEND blocks C)
        elseif("namespace" IN_LIST statement)
          list(APPEND blocks outer)
        else()
          list(APPEND blocks body)
          math(EXPR bodies "${bodies} + 1")
        endif()
      endif()
      set(statement "")
    else()
      list(APPEND statement "${token}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES hooks)
  list(SORT hooks)
  set(${out} "${hooks}" PARENT_SCOPE)
endfunction()
