# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_read_elf
----------------
Reads the soname of a shared library and the libraries that it needs, with readelf.

  fatlink_read_elf(<file> SONAME <out-var> NEEDED <out-var>)

``SONAME`` is the name of the file if the library states none. A file that is not a shared library, and missing or
unknown arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/../../detail/arguments.cmake")

function(fatlink_read_elf file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SONAME;NEEDED" "")
  fatlink_check_arguments("fatlink_read_elf(${file})" SONAME NEEDED)
  find_program(FATLINK_READELF NAMES "${CMAKE_READELF}" readelf llvm-readelf)
  mark_as_advanced(FATLINK_READELF)
  if(NOT FATLINK_READELF)
    message(FATAL_ERROR "fatlink: readelf was not found. Install binutils.")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C "${FATLINK_READELF}" -d -W "${file}"
    OUTPUT_VARIABLE dynamic ERROR_VARIABLE error)
  if(NOT dynamic MATCHES "Dynamic section|DynamicSection")
    message(FATAL_ERROR "${file}: not a shared library: ${error}")
  endif()

  cmake_path(GET file FILENAME soname)
  if(dynamic MATCHES "\\(SONAME\\)[^[\n]*\\[([^]]+)\\]")
    set(soname "${CMAKE_MATCH_1}")
  endif()
  string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" lines "${dynamic}")
  set(needed "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*\\[([^]]+)\\].*" "\\1" name "${line}")
    list(APPEND needed "${name}")
  endforeach()
  set(${arg_SONAME} "${soname}" PARENT_SCOPE)
  set(${arg_NEEDED} "${needed}" PARENT_SCOPE)
endfunction()
