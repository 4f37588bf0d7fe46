// SPDX-License-Identifier: Apache-2.0
// The library sort_N: out = the elements of in in the order of `less`, equal ones as in `in`.
// sort_tiles, then passes of sort_merge, which merges pairs of sorted runs, from `out` to `other`
// (to_other) or back; with cuts by a launch of sort_cuts before it, or without (has_cuts).
#include "../less.cuh"
#include "sort_settings.cuh"

using namespace fatlink_algorithms;
using keys_in = key_array<fatlink_element const, no_value const>;
using keys_out = key_array<fatlink_element, no_value>;

extern "C" __global__ void __launch_bounds__(k_threads, k_sort_blocks)
    sort_tiles(fatlink_element const* in, fatlink_element* out, fatlink_element* other,
               std::size_t n, unsigned to_other)
{
  wait_for_last_launch();
  __shared__ sorter<no_value>::storage shared;
  sorter<no_value>(shared, keys_in{in, nullptr}, keys_out{to_other ? other : out, nullptr}, n,
                   less_hook())
      .sort();
}

extern "C" __global__ void __launch_bounds__(k_cut_threads)
    sort_cuts(fatlink_element const* out, fatlink_element const* other, std::size_t* cuts,
              std::size_t n, unsigned shift, unsigned to_other)
{
  wait_for_last_launch();
  start_next_launch();
  find_cuts(to_other ? out : other, cuts, n, merger<no_value>::tile_size, shift, less_hook());
}

extern "C" __global__ void __launch_bounds__(k_threads, k_merge_blocks)
    sort_merge(fatlink_element* out, fatlink_element* other, std::size_t const* cuts, std::size_t n,
               unsigned shift, unsigned to_other, unsigned has_cuts)
{
  wait_for_last_launch();
  __shared__ merger<no_value>::storage shared;
  merge_runs<no_value>(shared, keys_in{to_other ? out : other, nullptr},
                       keys_out{to_other ? other : out, nullptr}, has_cuts ? cuts : nullptr, n,
                       shift);
}
