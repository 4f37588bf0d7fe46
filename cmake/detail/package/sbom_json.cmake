# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
sbom_json
---------
Pieces of text for ``fatlink_write_sbom``: ``string(JSON SET)`` parses all of the document for each
file that is added.

  _fatlink_json_text(<text> <out-var>)   a JSON string, with its quotes
  _fatlink_sbom_id(<text> <out-var>)     letters, digits, dots and hyphens alone
#]=======================================================================]
include_guard(GLOBAL)

function(_fatlink_json_text text out)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  string(ASCII 1 first)
  string(ASCII 31 last)
  if(text MATCHES "[${first}-${last}]")
    message(FATAL_ERROR "fatlink_write_sbom: a control character in: ${text}")
  endif()
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

function(_fatlink_sbom_id text out)
  string(REGEX REPLACE "[^A-Za-z0-9.-]+" "-" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
