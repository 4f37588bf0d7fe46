# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_base64
--------------
Encodes a text as base64 (RFC 4648), which CMake has no command for.

  fatlink_base64(<text> <out-var>)
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_base64 text out)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(HEX "${text}" hex)
  string(LENGTH "${hex}" length)
  set(encoded "")
  set(offset 0)
  while(offset LESS length)
    string(SUBSTRING "${hex}" ${offset} 6 group)
    math(EXPR offset "${offset} + 6")
    string(LENGTH "${group}" digits)
    string(SUBSTRING "${group}000000" 0 6 group)
    math(EXPR keep "${digits} * 4 / 6 + 1")  # 2, 4, 6 hex digits: 2, 3, 4 base64 digits
    if(digits EQUAL 6)
      set(keep 4)
    endif()
    foreach(shift IN ITEMS 18 12 6 0)
      if(keep GREATER 0)
        math(EXPR index "(0x${group} >> ${shift}) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 digit)
        string(APPEND encoded "${digit}")
      else()
        string(APPEND encoded "=")
      endif()
      math(EXPR keep "${keep} - 1")
    endforeach()
  endwhile()
  set(${out} "${encoded}" PARENT_SCOPE)
endfunction()
