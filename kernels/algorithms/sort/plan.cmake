# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_write_sort_plan
-----------------------
Writes the plan of a library of merge sorts, in which ``@N@`` stands for the bytes of a key, and ``@ALIGNMENT@`` for its
alignment:

  fatlink_write_sort_plan(<file> NAME <name> [VALUE_TYPE <type> VALUE_TEXT <text>])

``NAME`` is the library without its size, ``VALUE_TYPE`` the type of values that move with their keys. Each pass of the sort has
launches of its own: the first sorts tiles, pass p merges pairs of runs of 2^p tiles. Up to ``small_size`` elements the blocks
of a pass find their parts of the runs; of larger arrays a launch before does. There are enough passes for 2^33 elements, the
largest n.
#]=======================================================================]
include_guard(GLOBAL)

set(_fatlink_sort_passes 24)  # 2^33 / 768 tiles, those of 32 bytes

function(fatlink_write_sort_plan file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;VALUE_TYPE;VALUE_TEXT" "")
  fatlink_check_arguments("fatlink_write_sort_plan(${file})")
  set(N "@N@")
  set(ALIGNMENT "@ALIGNMENT@")
  set(kernel sort)
  set(input "\"in\"")
  set(arrays "\"out\", \"other\"")
  set(value_arguments "")
  set(value_result "")
  if(arg_VALUE_TYPE)
    set(kernel sort_pairs)
    set(input "\"in\", \"in_values\"")
    set(arrays "\"out\", \"out_values\", \"other\", \"other_values\"")
    set(value_result ", \"out_values\": \"sort(less, in, in_values)\"")
    set(value_arguments "
    {\"name\": \"in_values\", \"role\": \"input\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"n\"},
    {\"name\": \"out_values\", \"role\": \"output\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"n\"},
    {\"name\": \"other_values\", \"role\": \"scratch\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"passes > 0 ? n : 0\"},")
  endif()

  set(passes "")
  set(launches "")
  math(EXPR last "${_fatlink_sort_passes} - 1")
  foreach(pass RANGE ${last})
    math(EXPR tiles "1 << ${pass}")
    math(EXPR shift "${pass} + 1")
    string(APPEND passes " + (tiles > ${tiles})")
    set(direction "{\"value\": \"max(0, passes - ${shift}) % 2\", \"type\": \"uint32\"}")
    set(rest "\"n\", {\"value\": ${shift}, \"type\": \"uint32\"}, ${direction}")
    string(APPEND launches ",
    {\"kernel\": \"${kernel}_cuts\", \"grid\": \"large * tiles > ${tiles} ? ceil(tiles / 128) : 0\", \"block\": 128, \"overlap\": true,
     \"arguments\": [\"out\", \"other\", \"cuts\", ${rest}]},
    {\"kernel\": \"${kernel}_merge\", \"grid\": \"tiles > ${tiles} ? tiles : 0\", \"block\": 256, \"overlap\": true,
     \"arguments\": [${arrays}, \"cuts\", ${rest}, {\"value\": \"large\", \"type\": \"uint32\"}]}")
  endforeach()
  string(SUBSTRING "${passes}" 3 -1 passes)

  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [[{
  "name": "@arg_NAME@_@N@",
  "summary": "sorts @N@-byte @arg_VALUE_TEXT@; equal ones keep their order",
  "contract": "less_@N@/1",
  "arguments": [
    {"name": "in", "role": "input", "type": "element", "count": "n", "alignment": @ALIGNMENT@},
    {"name": "out", "role": "output", "type": "element", "count": "n", "alignment": @ALIGNMENT@},@value_arguments@
    {"name": "other", "role": "scratch", "type": "element", "count": "passes > 0 ? n : 0"},
    {"name": "cuts", "role": "scratch", "type": "uint64", "count": "large ? tiles : 0"},
    {"name": "n", "role": "size", "maximum": 8589934592},
    {"name": "small_size", "role": "size", "default": 16777216}
  ],
  "let": {
    "tile": "256 * (@N@ <= 4 ? 17 : @N@ == 8 ? 11 : @N@ == 16 ? 5 : 3)",
    "tiles": "ceil(n / tile)",
    "large": "n > small_size",
    "passes": "@passes@"
  },
  "launches": [
    {"kernel": "@kernel@_tiles", "grid": "tiles", "block": 256, "overlap": true,
     "arguments": [@input@, @arrays@, "n", {"value": "passes % 2", "type": "uint32"}]}@launches@
  ],
  "computes": {"out": "sort(less, in)"@value_result@}
}
]])
endfunction()
