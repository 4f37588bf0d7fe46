# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_write_segmented_sort_plan
---------------------------------
Writes the plan of a library of segmented sorts, in which ``@N@`` stands for the bytes of a key, and ``@ALIGNMENT@`` for its
alignment:

  fatlink_write_segmented_sort_plan(<file> NAME <name> VALUE_TEXT <text> [VALUE_TYPE <type>])

``NAME`` is the library without its size, ``VALUE_TYPE`` the type of values that move with their keys. The first launches sort
tiles, pass p merges runs of 2^p tiles of one segment; passes that neither n nor ``longest`` makes necessary have no launch. Up
to ``small_size`` elements the blocks of a pass find their parts of the runs; of larger arrays a launch before does. The number
of blocks of a pass is odd, so that each gets jobs of all kinds. There are enough passes for 2^33 elements, the largest n.
#]=======================================================================]
include_guard(GLOBAL)

set(_fatlink_segmented_sort_passes 24)  # 2^33 / 736 tiles, those of 32 bytes

function(fatlink_write_segmented_sort_plan file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;VALUE_TYPE;VALUE_TEXT" "")
  fatlink_check_arguments("fatlink_write_segmented_sort_plan(${file})")
  set(N "@N@")
  set(ALIGNMENT "@ALIGNMENT@")
  set(value_arguments "")
  set(value_result "")
  set(value_overlap "")
  set(value_names in out other)  # unused pointers of a sort without values
  if(arg_VALUE_TYPE)
    set(value_names in_values out_values other_values)
    set(value_result ", \"out_values\": \"segmented_sort(less, in, offsets, in_values)\"")
    set(value_arguments "
    {\"name\": \"in_values\", \"role\": \"input\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"n\"},
    {\"name\": \"out_values\", \"role\": \"output\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"n\", \"may_overlap\": [\"in_values\"]},
    {\"name\": \"other_values\", \"role\": \"scratch\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"reach > 0 ? n : 0\"},")
  endif()
  list(GET value_names 0 in_values)
  list(GET value_names 1 out_values)
  list(GET value_names 2 other_values)

  set(launches "")
  math(EXPR last "${_fatlink_segmented_sort_passes} - 1")
  foreach(pass RANGE ${last})
    math(EXPR parts "1 << ${pass}")
    set(rest "\"spans\", \"cuts\", \"tiles\", {\"value\": ${pass}, \"type\": \"uint32\"}")
    string(APPEND launches ",
    {\"kernel\": \"segmented_sort_cuts\", \"grid\": \"large * reach >= ${parts} ? ceil(tiles / 128) : 0\", \"block\": 128, \"overlap\": true,
     \"arguments\": [\"out\", \"other\", ${rest}]},
    {\"kernel\": \"segmented_sort_merge\", \"grid\": \"reach >= ${parts} ? min(2 * tiles, blocks) : 0\", \"block\": 256, \"overlap\": true,
     \"arguments\": [\"out\", \"${out_values}\", \"other\", \"${other_values}\", ${rest}, {\"value\": \"large\", \"type\": \"uint32\"}]}")
  endforeach()

  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [[{
  "name": "@arg_NAME@_@N@",
  "summary": "sorts each segment of an array of @N@-byte @arg_VALUE_TEXT@; equal ones keep their order",
  "contract": "less_@N@/1",
  "arguments": [
    {"name": "in", "role": "input", "type": "element", "count": "n", "alignment": @ALIGNMENT@},
    {"name": "offsets", "role": "input", "type": "uint64", "count": "segments + 1"},
    {"name": "out", "role": "output", "type": "element", "count": "n", "alignment": @ALIGNMENT@, "may_overlap": ["in"]},@value_arguments@
    {"name": "other", "role": "scratch", "type": "element", "count": "reach > 0 ? n : 0"},
    {"name": "spans", "role": "scratch", "type": "uint64", "count": "3 * (tiles + 1)"},
    {"name": "cuts", "role": "scratch", "type": "uint64", "count": "large ? tiles : 0"},
    {"name": "n", "role": "size", "maximum": 8589934592},
    {"name": "segments", "role": "size"},
    {"name": "longest", "role": "size", "default": 8589934592},
    {"name": "small_size", "role": "size", "default": 16777216}
  ],
  "let": {
    "slack": "@N@ <= 4 ? 256 : @N@ == 8 ? 128 : @N@ == 16 ? 64 : 32",
    "stride": "256 * (@N@ <= 4 ? 17 : @N@ == 8 ? 11 : @N@ == 16 ? 5 : 3) - slack",
    "tiles": "ceil(n / stride)",
    "reach": "min(max(tiles, 1) - 1, longest > slack ? (longest - slack - 1) / stride + 1 : 0)",
    "large": "n > small_size && longest > 64 * stride",
    "blocks": "max(5, (occupancy(segmented_sort_merge) * multiprocessors - 1) / 2 * 2 + 1)"
  },
  "launches": [
    {"kernel": "segmented_sort_spans", "grid": "(tiles > 0) * (tiles / 8 + 1)", "block": 256,
     "overlap": true, "arguments": ["offsets", "spans", "n", "segments"]},
    {"kernel": "segmented_sort_tiles", "grid": "tiles", "block": 256, "overlap": true,
     "arguments": ["in", "@in_values@", "offsets", "spans", "out", "@out_values@", "other", "@other_values@", "segments",
                   {"value": "reach > 0", "type": "uint32"}]}@launches@
  ],
  "computes": {"out": "segmented_sort(less, in, offsets)"@value_result@}
}
]])
endfunction()
