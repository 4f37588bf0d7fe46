# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_write_top_k_plan
------------------------
Writes the plan of the libraries top_k_N, in which ``@N@`` stands for the bytes of an element, and ``@ALIGNMENT@`` for its
alignment:

  fatlink_write_top_k_plan(<file>)
#]=======================================================================]
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/../radix_sort/plan.cmake")

function(fatlink_write_top_k_plan file)
  set(N "@N@")
  set(ALIGNMENT "@ALIGNMENT@")
  foreach(step RANGE 6)
    set(runs "digits >= ${step}")
    if(step EQUAL 0)
      set(runs "sample > 0")
    endif()
    set(select${step} ",
    {\"kernel\": \"top_k_select\", \"grid\": \"${runs} ? select_blocks : 0\", \"block\": 256, \"overlap\": true,
     \"arguments\": [\"in\", \"selected\", \"selected_indexes\", \"first\", \"first_indexes\", \"second\", \"second_indexes\", \"all\",
                   \"n\", \"k\", \"capacity\", {\"value\": \"digits\", \"type\": \"uint32\"}, {\"value\": ${step}, \"type\": \"uint32\"},
                   {\"value\": \"8 * passes\", \"type\": \"uint32\"}, \"state\"]}")
  endforeach()
  set(selects "${select1}${select2}${select3}${select4}${select5}${select6}")
  fatlink_radix_pass_launches(sorts TILES sort_tiles COUNT k LIMIT [[{"value": 0, "type": "uint64"}]]
    ARRAYS selected selected_indexes out out_indexes other other_indexes)
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [[{
  "name": "top_k_@N@",
  "summary": "the k @N@-byte elements with the smallest integers that a hook makes of them, sorted, and their indexes",
  "contract": "key_@N@/1",
  "arguments": [
    {"name": "in", "role": "input", "type": "element", "count": "n", "alignment": @ALIGNMENT@},
    {"name": "out", "role": "output", "type": "element", "count": "k", "alignment": @ALIGNMENT@},
    {"name": "out_indexes", "role": "output", "type": "uint64", "count": "k"},
    {"name": "selected", "role": "scratch", "type": "element", "count": "selected_count"},
    {"name": "selected_indexes", "role": "scratch", "type": "uint64", "count": "selected_count"},
    {"name": "first", "role": "scratch", "type": "element", "count": "first_count"},
    {"name": "first_indexes", "role": "scratch", "type": "uint64", "count": "first_count"},
    {"name": "second", "role": "scratch", "type": "element", "count": "second_count"},
    {"name": "second_indexes", "role": "scratch", "type": "uint64", "count": "second_count"},
    {"name": "other", "role": "scratch", "type": "element", "count": "other_count"},
    {"name": "other_indexes", "role": "scratch", "type": "uint64", "count": "other_count"},
    {"name": "all", "role": "scratch", "type": "uint64", "count": "all_count"},
    {"name": "counts", "role": "scratch", "type": "uint64", "count": "sort_tiles > 0 ? 2053 : 0"},
    {"name": "words", "role": "scratch", "type": "uint32", "count": "word_count"},
    {"name": "other_words", "role": "scratch", "type": "uint32", "count": "passes > 1 ? word_count : 0"},
    {"name": "n", "role": "size", "maximum": 8589934592},
    {"name": "k", "role": "size", "maximum": "min(n, 268435456)"},
    {"name": "bits", "role": "size", "default": 64},
    {"name": "sampled_size", "role": "size", "default": 4194304},
    {"name": "state", "role": "state"}
  ],
  "let": {
    "passes": "min(min(@N@, 8), max(1, ceil(bits / 8)))",
    "digits": "ceil(8 * passes / 11)",
    "items": "@N@ <= 8 ? 15 : @N@ == 16 ? 7 : 3",
    "tile": "384 * items",
    "few": "384 * 3",
    "is_selected": "n > tile && k > 0",
    "capacity": "k <= few ? few : k <= tile ? tile : k",
    "first_tile": "512 * max(1, 16 / @N@) * (@N@ == 1 ? 1 : 2)",
    "select_tile": "256 * max(1, 16 / @N@) * (@N@ < 4 ? 2 * @N@ : 4)",
    "select_tiles": "is_selected ? ceil(n / select_tile) : 0",
    "select_blocks": "min(select_tiles, max(2, occupancy(top_k_select) * multiprocessors))",
    "sort_tiles": "is_selected && k > tile ? ceil(k / (384 * (items / 3))) : 0",
    "selected_count": "is_selected ? capacity : 0",
    "sample": "is_selected && digits > 1 && n >= sampled_size && k <= n / 64 ? min(1024 * (@N@ < 4 ? 0 : @N@ == 32 ? 2 : @N@ == 16 ? 4 : 8), n / 16) : 0",
    "first_count": "is_selected && digits > 1 ? n / 32 : 0",
    "second_count": "is_selected && digits > 1 ? n / 1024 : 0",
    "other_count": "sort_tiles > 0 && passes > 1 ? k : 0",
    "word_count": "256 * sort_tiles",
    "all_count": "is_selected ? 1 + (digits + 1) * (2059 + select_tiles + 2 * (ceil(select_tiles / 32) + 1)) : 0"
  },
  "launches": [
    {"kernel": "top_k_start", "grid": "min(multiprocessors, ceil((all_count + word_count) / 2048))",
     "block": 1024, "overlap": true,
     "arguments": ["in", "all", "all_count", "counts", "words", "word_count", "n", "k", {"value": "sample", "type": "uint32"},
                   {"value": "digits", "type": "uint32"}, {"value": "8 * passes", "type": "uint32"}, "state"]}@select0@,
    {"kernel": "top_k_count", "grid": "is_selected ? min(4 * multiprocessors, ceil(n / first_tile)) : 0", "block": 512, "overlap": true,
     "arguments": ["in", "all", "n", "k", "capacity", {"value": "digits", "type": "uint32"},
                   {"value": "8 * passes", "type": "uint32"}, "state"]}@selects@,
    {"kernel": "top_k_tile", "grid": "is_selected && k <= tile", "block": 384, "overlap": true,
     "arguments": ["selected", "selected_indexes", "out", "out_indexes", "all", "n", "k", {"value": 1, "type": "uint32"},
                   {"value": "passes", "type": "uint32"}, "state"]},
    {"kernel": "radix_count", "grid": "sort_tiles > 0 ? min(4 * multiprocessors, ceil(k / first_tile)) : 0", "block": 512, "overlap": true,
     "arguments": ["selected", "counts", "k", {"value": 0, "type": "uint64"}, {"value": "passes", "type": "uint32"}, "state"]}@sorts@,
    {"kernel": "top_k_tile", "grid": "!is_selected && k > 0", "block": 384, "overlap": true,
     "arguments": ["in", "selected_indexes", "out", "out_indexes", "all", "n", "k", {"value": 0, "type": "uint32"},
                   {"value": "passes", "type": "uint32"}, "state"]}
  ],
  "computes": {"out": "sort_by(key, in, low_bits(bits))", "out_indexes": "sort_by(key, in, index, low_bits(bits))"}
}
]])
endfunction()
