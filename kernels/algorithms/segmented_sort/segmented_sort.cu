// SPDX-License-Identifier: Apache-2.0
// The library segmented_sort_N: out = in with each segment in the order of `less`, equal elements
// as in `in`. Segment i is the elements offsets[i] to offsets[i + 1] - 1; elements of no segment
// keep their places. See segment_tiles.cuh.
//
// segmented_sort_spans finds the segments at the boundaries of tiles, segmented_sort_tiles sorts
// within tiles. Then passes of segmented_sort_merge merge what tiles have of segments that they
// share; with cuts by a launch of segmented_sort_cuts before each, or without (has_cuts).
#include "../less.cuh"
#include "segmented_sort_settings.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void __launch_bounds__(k_span_threads)
    segmented_sort_spans(std::size_t const* offsets, tile_span* spans, std::size_t n,
                         std::size_t segments)
{
  wait_for_last_launch();
  start_next_launch();
  find_spans<tiling>(offsets, spans, n, segments);
}

extern "C" __global__ void __launch_bounds__(k_threads, k_sort_blocks)
    segmented_sort_tiles(fatlink_element const* in, std::size_t const* offsets,
                         tile_span const* spans, fatlink_element* out, fatlink_element* other,
                         std::size_t segments, unsigned has_other)
{
  wait_for_last_launch();
  __shared__ sorter::storage shared;
  sorter(shared, in, out, other, has_other != 0, spans, less_hook()).sort(offsets, segments);
}

extern "C" __global__ void __launch_bounds__(k_cut_threads)
    segmented_sort_cuts(fatlink_element const* out, fatlink_element const* other,
                        tile_span const* spans, std::size_t* cuts, std::size_t tiles, unsigned pass)
{
  wait_for_last_launch();
  start_next_launch();
  find_segment_cuts<tiling>(out, other, spans, cuts, tiles, pass, less_hook());
}

extern "C" __global__ void __launch_bounds__(k_threads, k_merge_blocks)
    segmented_sort_merge(fatlink_element* out, fatlink_element* other, tile_span const* spans,
                         std::size_t const* cuts, std::size_t tiles, unsigned pass,
                         unsigned has_cuts)
{
  wait_for_last_launch();
  start_next_launch();
  __shared__ merger::storage shared;
  merger(shared, out, other, spans, tiles, pass, less_hook()).merge(has_cuts ? cuts : nullptr);
}
