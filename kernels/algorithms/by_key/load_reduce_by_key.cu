// SPDX-License-Identifier: Apache-2.0
// The library load_reduce_by_key_N: the key of each run of equal keys, and the fold of what `load`
// computes for the elements of the run. Launched as reduce_by_key_N.
#include "../load_by_key.cuh"
// The contract's header comes first.
#include "../detail/hooks.cuh"
#include "../detail/load_hook.cuh"
#include "run_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void load_reduce_by_key_clear(slot<run_fold<fatlink_element>>* slots,
                                                    std::size_t size, unsigned* ticket,
                                                    unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_run_threads, k_run_blocks)
    load_reduce_by_key_tiles(void const* keys, void const* in, void* out_keys, fatlink_element* out,
                             unsigned long long* count, std::size_t n,
                             slot<run_fold<fatlink_element>>* slots, unsigned* ticket,
                             void const* load_state)
{
  fold_tile(load_from(in, load_state), key_hooks{keys, out_keys}, n, slots, ticket,
            [&](auto&& folder) { folder.reduce(out, count); });
}
