// SPDX-License-Identifier: Apache-2.0
// The library load_scan_N: out[i] = combine(load(in, 0), …, load(in, i)). Launched as scan_N.
#include "../load_combine.cuh"
// The contract's header comes first.
#include "../detail/hooks.cuh"
#include "../detail/load_hook.cuh"
#include "scan_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void load_scan_clear(slot<fatlink_element>* slots, std::size_t count,
                                           unsigned* ticket)
{
  clear_slots(slots, count, ticket);
}

extern "C" __global__ void __launch_bounds__(k_scan_threads, k_scan_blocks)
    load_scan_tiles(void const* __restrict__ in, fatlink_element* __restrict__ out, std::size_t n,
                    slot<fatlink_element>* slots, unsigned* ticket,
                    void const* __restrict__ load_state)
{
  scan_tile<false>(load_from(in, load_state), out, n, fatlink_element{}, slots, ticket,
                   combine_hook{});
}
