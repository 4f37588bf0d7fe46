# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_radix_pass_launches
---------------------------
Sets <variable> to the text of the launches that sort by one digit each, for a plan with the let ``passes``. It begins with a comma:

  fatlink_radix_pass_launches(<variable> TILES <tiles> ARRAYS <name>... COUNT <size> LIMIT <argument>)

``TILES`` is the let with the number of tiles, ``ARRAYS`` are the sorted array, the result and the scratch array, each followed by
its values. ``COUNT`` is the size of the arrays, and ``LIMIT`` the text of the argument with the number of elements that only the
device knows.

fatlink_write_radix_sort_plan
-----------------------------
Writes the plan of a library of radix sorts, in which ``@N@`` stands for the bytes of an element, and ``@ALIGNMENT@`` for its
alignment:

  fatlink_write_radix_sort_plan(<file> NAME <name> [VALUE_TYPE <type>] VALUE_TEXT <text>)

``NAME`` is the library without its size, ``VALUE_TYPE`` the type of values that move with their elements. Each digit of the keys
has a launch of its own.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_radix_pass_launches variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TILES;COUNT;LIMIT" "ARRAYS")
  fatlink_check_arguments("fatlink_radix_pass_launches(${variable})")
  list(JOIN arg_ARRAYS "\", \"" arrays)
  set(launches "")
  foreach(pass RANGE 7)
    string(APPEND launches ",
    {\"kernel\": \"radix_pass\", \"grid\": \"passes > ${pass} ? ${arg_TILES} : 0\", \"block\": 384, \"overlap\": true,
     \"arguments\": [\"${arrays}\", \"counts\", \"words\", \"other_words\",
                   \"${arg_COUNT}\", ${arg_LIMIT}, {\"value\": ${pass}, \"type\": \"uint32\"}, {\"value\": \"passes\", \"type\": \"uint32\"}, \"state\"]}")
  endforeach()
  set(${variable} "${launches}" PARENT_SCOPE)
endfunction()

function(fatlink_write_radix_sort_plan file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;VALUE_TYPE;VALUE_TEXT" "")
  fatlink_check_arguments("fatlink_write_radix_sort_plan(${file})")
  set(N "@N@")
  set(ALIGNMENT "@ALIGNMENT@")
  set(value_bytes 0)
  set(value_arguments "")
  set(value_result "")
  set(value_names in out other)  # unused pointers of a sort without values
  if(arg_VALUE_TYPE)
    set(value_names in_values out_values other_values)
    string(REGEX REPLACE "uint([0-9]+)" "\\1 / 8" value_bytes "${arg_VALUE_TYPE}")
    set(value_result ", \"out_values\": \"sort_by(key, in, in_values, low_bits(bits))\"")
    set(value_arguments "
    {\"name\": \"in_values\", \"role\": \"input\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"n\"},
    {\"name\": \"out_values\", \"role\": \"output\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"n\"},
    {\"name\": \"other_values\", \"role\": \"scratch\", \"type\": \"${arg_VALUE_TYPE}\", \"count\": \"passes > 1 && tiles > 1 ? n : 0\"},")
  endif()
  list(GET value_names 0 in_values)
  list(GET value_names 1 out_values)
  list(GET value_names 2 other_values)
  fatlink_radix_pass_launches(launches TILES passed_tiles COUNT n LIMIT "\"limit\""
    ARRAYS in ${in_values} out ${out_values} other ${other_values})
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [[{
  "name": "@arg_NAME@_@N@",
  "summary": "sorts @N@-byte @arg_VALUE_TEXT@ by the integer that a hook makes of each; equal ones keep their order",
  "contract": "key_@N@/1",
  "arguments": [
    {"name": "in", "role": "input", "type": "element", "count": "n", "alignment": @ALIGNMENT@},
    {"name": "out", "role": "output", "type": "element", "count": "n", "alignment": @ALIGNMENT@},@value_arguments@
    {"name": "other", "role": "scratch", "type": "element", "count": "passes > 1 && tiles > 1 ? n : 0"},
    {"name": "counts", "role": "scratch", "type": "uint64", "count": "tiles > 1 ? 2053 : 0"},
    {"name": "words", "role": "scratch", "type": "uint32", "count": "word_count"},
    {"name": "other_words", "role": "scratch", "type": "uint32", "count": "passes > 1 ? word_count : 0"},
    {"name": "n", "role": "size", "maximum": 8589934592, "limit": "limit"},
    {"name": "limit", "role": "input", "type": "uint64", "count": 1, "default": null},
    {"name": "bits", "role": "size", "default": 64},
    {"name": "state", "role": "state"}
  ],
  "let": {
    "value_bytes": "@value_bytes@",
    "bytes": "max(@N@, value_bytes)",
    "items": "bytes <= 4 ? 22 : bytes == 8 ? 15 : bytes == 16 ? 7 : 3",
    "passes": "min(min(@N@, 8), max(1, ceil(bits / 8)))",
    "tile_items": "n < 524288 && n > 384 * items ? items / 3 : items",
    "tiles": "ceil(n / (384 * tile_items))",
    "passed_tiles": "tiles > 1 ? tiles : 0",
    "word_count": "256 * passed_tiles * (n < 1073741824 ? 1 : 2)",
    "count_tile": "512 * max(1, 16 / @N@) * (@N@ == 1 ? 1 : 2)"
  },
  "launches": [
    {"kernel": "radix_clear", "grid": "min(4 * multiprocessors, passed_tiles)",
     "block": 256, "overlap": true,
     "arguments": ["counts", "words", "word_count"]},
    {"kernel": "radix_count", "grid": "min(4 * multiprocessors, tiles > 1 ? ceil(n / count_tile) : 0)", "block": 512, "overlap": true,
     "arguments": ["in", "counts", "n", "limit", {"value": "passes", "type": "uint32"}, "state"]}@launches@,
    {"kernel": "radix_tile", "grid": "tiles == 1", "block": 384, "overlap": true,
     "arguments": ["in", "@in_values@", "out", "@out_values@", "n", "limit", {"value": "passes", "type": "uint32"}, "state"]}
  ],
  "computes": {"out": "sort_by(key, in, low_bits(bits))"@value_result@}
}
]])
endfunction()
