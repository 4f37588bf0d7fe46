// SPDX-License-Identifier: Apache-2.0
// The library load_scan_by_key_N: for each element, the fold of what `load` computes for the
// elements from the beginning of its run of equal keys to the element. Launched as scan_by_key_N.
#define FATLINK_RUN_SCAN
#include "../load_by_key.cuh"
// The contract's header comes first.
#include "../detail/hooks.cuh"
#include "../detail/load_hook.cuh"
#include "run_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void load_scan_by_key_clear(slot<run_fold<fatlink_element>>* slots,
                                                  std::size_t size, unsigned* ticket)
{
  clear_selection(slots, size, ticket);
}

extern "C" __global__ void __launch_bounds__(k_run_threads, k_run_blocks)
    load_scan_by_key_tiles(void const* keys, void const* in, fatlink_element* out, std::size_t n,
                           slot<run_fold<fatlink_element>>* slots, unsigned* ticket,
                           void const* load_state)
{
  fold_tile(load_from(in, load_state), key_hooks{keys, nullptr}, n, slots, ticket,
            [&](auto&& folder) { folder.scan(out); });
}
