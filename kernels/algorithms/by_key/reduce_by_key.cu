// SPDX-License-Identifier: Apache-2.0
// The library reduce_by_key_N: the key of each run of equal keys, and the fold of the run's values.
// A launch of reduce_by_key_clear precedes reduce_by_key_tiles, except for one tile.
#include "../by_key.cuh"
#include "../detail/hooks.cuh"
#include "run_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void reduce_by_key_clear(slot<run_fold<fatlink_element>>* slots,
                                               std::size_t size, unsigned* ticket,
                                               unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_run_threads, k_run_blocks)
    reduce_by_key_tiles(void const* keys, fatlink_element const* in, void* out_keys,
                        fatlink_element* out, unsigned long long* count, std::size_t n,
                        slot<run_fold<fatlink_element>>* slots, unsigned* ticket)
{
  fold_tile(in, key_hooks{keys, out_keys}, n, slots, ticket,
            [&](auto&& folder) { folder.reduce(out, count); });
}
