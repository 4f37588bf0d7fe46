# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
sbom_json
---------
Encodes text for ``fatlink_write_sbom``, which builds its JSON as text: ``string(JSON SET)`` would parse the whole
document once per file.

  _fatlink_json_text(<text> <out-var>)   gives a JSON string with its quotes
  _fatlink_sbom_id(<text> <out-var>)     replaces all but letters, digits and dots by hyphens
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
    message(FATAL_ERROR "fatlink_write_sbom: the text has a control character: ${text}")
  endif()
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

function(_fatlink_sbom_id text out)
  string(REGEX REPLACE "[^A-Za-z0-9.-]+" "-" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
