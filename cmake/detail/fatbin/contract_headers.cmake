# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_contract_headers
------------------------
Gives the header of a contract and all headers that it includes with quotes, as paths relative to its folder. Such a
header must be in that folder or below it, so that the contract can be copied as a whole.

  fatlink_contract_headers(<caller> <header> <out-var>)

A quoted header that does not exist there, or is outside of the folder, stops configuration.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_contract_headers caller header out)
  cmake_path(GET header PARENT_PATH folder)
  set(pending "${header}")
  set(headers "")
  while(pending)
    list(POP_FRONT pending file)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
    list(APPEND headers "${name}")
    _fatlink_quoted_includes("${caller}" "${folder}" "${file}" includes)
    foreach(include IN LISTS includes)
      cmake_path(RELATIVE_PATH include BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
      if(NOT name IN_LIST headers AND NOT include IN_LIST pending)
        list(APPEND pending "${include}")
      endif()
    endforeach()
  endwhile()
  set(${out} "${headers}" PARENT_SCOPE)
endfunction()

# The files that `file` includes with quotes, looked up in its own folder.
function(_fatlink_quoted_includes caller folder file out)
  set(includes "")
  file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"[^\"]+\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\".*" "\\1" name "${line}")
    cmake_path(GET file PARENT_PATH include)
    cmake_path(APPEND include "${name}")
    cmake_path(NORMAL_PATH include)
    cmake_path(IS_PREFIX folder "${include}" NORMALIZE is_inside)
    if(NOT is_inside OR NOT EXISTS "${include}")
      message(FATAL_ERROR "${caller}: HEADER ${file} includes \"${name}\", which is not a file in the folder of the "
        "contract's header (${folder}) or below it: an installed contract would not compile; move it there")
    endif()
    list(APPEND includes "${include}")
  endforeach()
  set(${out} "${includes}" PARENT_SCOPE)
endfunction()
