# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_write_segmented_sort_plan
---------------------------------
Writes the plan of the libraries segmented_sort_N, in which ``@N@`` stands for the bytes of an element, and ``@ALIGNMENT@``
for its alignment:

  fatlink_write_segmented_sort_plan(<file>)

The first launches sort tiles, pass p merges runs of 2^p tiles of one segment; passes that neither n nor ``longest`` makes
necessary have no launch. Up to ``small_size`` elements the blocks of a pass find their parts of the runs; of larger arrays a
launch before does. The number of blocks of a pass is odd, so that each gets jobs of all kinds. There are enough passes for
2^33 elements, the largest n.
#]=======================================================================]
include_guard(GLOBAL)

set(_fatlink_segmented_sort_passes 24)  # 2^33 / 736 tiles, those of 32 bytes

function(fatlink_write_segmented_sort_plan file)
  set(N "@N@")
  set(ALIGNMENT "@ALIGNMENT@")
  set(launches "")
  math(EXPR last "${_fatlink_segmented_sort_passes} - 1")
  foreach(pass RANGE ${last})
    math(EXPR parts "1 << ${pass}")
    set(rest "\"spans\", \"cuts\", \"tiles\", {\"value\": ${pass}, \"type\": \"uint32\"}")
    string(APPEND launches ",
    {\"kernel\": \"segmented_sort_cuts\", \"grid\": \"large * reach >= ${parts} ? ceil(tiles / 128) : 0\", \"block\": 128, \"overlap\": true,
     \"arguments\": [\"out\", \"other\", ${rest}]},
    {\"kernel\": \"segmented_sort_merge\", \"grid\": \"reach >= ${parts} ? min(2 * tiles, blocks) : 0\", \"block\": 256, \"overlap\": true,
     \"arguments\": [\"out\", \"other\", ${rest}, {\"value\": \"large\", \"type\": \"uint32\"}]}")
  endforeach()

  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [[{
  "name": "segmented_sort_@N@",
  "summary": "sorts each segment of an array of @N@-byte elements by a hook; equal ones keep their order",
  "contract": "less_@N@/1",
  "arguments": [
    {"name": "in", "role": "input", "type": "element", "count": "n", "alignment": @ALIGNMENT@},
    {"name": "offsets", "role": "input", "type": "uint64", "count": "segments + 1"},
    {"name": "out", "role": "output", "type": "element", "count": "n", "alignment": @ALIGNMENT@, "may_overlap": ["in"]},
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
     "arguments": ["in", "offsets", "spans", "out", "other", "segments",
                   {"value": "reach > 0", "type": "uint32"}]}@launches@
  ],
  "computes": {"out": "segmented_sort(less, in, offsets)"}
}
]])
endfunction()
