// SPDX-License-Identifier: Apache-2.0
// The library scan_by_key_N: for each element, the fold of the values from the beginning of its run
// of equal keys to the element. A launch of scan_by_key_clear precedes scan_by_key_tiles, except
// for one tile.
#define FATLINK_RUN_SCAN
#include "../by_key.cuh"
#include "../detail/hooks.cuh"
#include "run_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void scan_by_key_clear(slot<run_fold<fatlink_element>>* slots,
                                             std::size_t size, unsigned* ticket)
{
  clear_selection(slots, size, ticket);
}

extern "C" __global__ void __launch_bounds__(k_run_threads, k_run_blocks)
    scan_by_key_tiles(void const* keys, fatlink_element const* in, fatlink_element* out,
                      std::size_t n, slot<run_fold<fatlink_element>>* slots, unsigned* ticket)
{
  fold_tile(in, key_hooks{keys, nullptr}, n, slots, ticket,
            [&](auto&& folder) { folder.scan(out); });
}
