// SPDX-License-Identifier: Apache-2.0
// The library load_exclusive_scan_N: out[i] = combine(init, load(in, 0), …, load(in, i - 1)).
// Launched as exclusive_scan_N.
#include "../load_combine.cuh"
// The contract's header comes first.
#include "../detail/hooks.cuh"
#include "../detail/load_hook.cuh"
#include "../scan/scan_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void load_exclusive_scan_clear(slot<fatlink_element>* slots,
                                                     std::size_t count, unsigned* ticket)
{
  clear_slots(slots, count, ticket);
}

extern "C" __global__ void __launch_bounds__(k_scan_threads, k_scan_blocks)
    load_exclusive_scan_tiles(void const* __restrict__ in, fatlink_element* __restrict__ out,
                              std::size_t n, fatlink_element init, slot<fatlink_element>* slots,
                              unsigned* ticket, void const* __restrict__ load_state)
{
  scan_tile<true>(load_from(in, load_state), out, n, init, slots, ticket, combine_hook{});
}
