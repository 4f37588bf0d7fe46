// SPDX-License-Identifier: Apache-2.0
// The libraries sort_pairs_N and sort_pairs_wide_N: as sort_N; each value, of FATLINK_VALUE_BYTES
// bytes, moves with its key.
#include "../less.cuh"
#include "sort_settings.cuh"

using namespace fatlink_algorithms;
using value = FATLINK_DETAIL_ELEMENT(FATLINK_VALUE_BYTES);
using pairs_in = key_array<fatlink_element const, value const>;
using pairs_out = key_array<fatlink_element, value>;

extern "C" __global__ void __launch_bounds__(k_threads, k_sort_blocks)
    sort_pairs_tiles(fatlink_element const* in, value const* in_values, fatlink_element* out,
                     value* out_values, fatlink_element* other, value* other_values, std::size_t n,
                     unsigned to_other)
{
  wait_for_last_launch();
  __shared__ sorter<value>::storage shared;
  pairs_out const target = to_other ? pairs_out{other, other_values} : pairs_out{out, out_values};
  sorter<value>(shared, pairs_in{in, in_values}, target, n, less_hook()).sort();
}

extern "C" __global__ void __launch_bounds__(k_cut_threads)
    sort_pairs_cuts(fatlink_element const* out, fatlink_element const* other, std::size_t* cuts,
                    std::size_t n, unsigned shift, unsigned to_other)
{
  wait_for_last_launch();
  start_next_launch();
  find_cuts(to_other ? out : other, cuts, n, merger<value>::tile_size, shift, less_hook());
}

extern "C" __global__ void __launch_bounds__(k_threads, k_merge_blocks)
    sort_pairs_merge(fatlink_element* out, value* out_values, fatlink_element* other,
                     value* other_values, std::size_t const* cuts, std::size_t n, unsigned shift,
                     unsigned to_other, unsigned has_cuts)
{
  wait_for_last_launch();
  __shared__ merger<value>::storage shared;
  merge_runs<value>(shared, to_other ? pairs_in{out, out_values} : pairs_in{other, other_values},
                    to_other ? pairs_out{other, other_values} : pairs_out{out, out_values},
                    has_cuts ? cuts : nullptr, n, shift);
}
