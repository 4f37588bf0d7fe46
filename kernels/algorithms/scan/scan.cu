// SPDX-License-Identifier: Apache-2.0
// The library scan_N: out[i] = combine(in[0], …, in[i]). A launch of scan_clear, then one of
// scan_tiles.
// `in` and `out` are the same array or do not overlap.
#include "../combine.cuh"
#include "../detail/hooks.cuh"
#include "scan_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void scan_clear(slot<fatlink_element>* slots, std::size_t count,
                                      unsigned* ticket)
{
  start_next_launch();
  wait_for_last_launch();
  clear_slots(slots, count, ticket);
}

extern "C" __global__ void __launch_bounds__(k_scan_threads, k_scan_blocks)
    scan_tiles(fatlink_element const* in, fatlink_element* out, std::size_t n,
               unsigned long long const* limit, slot<fatlink_element>* slots, unsigned* ticket)
{
  scan_tile<false>(in, out, {n, limit}, fatlink_element{}, slots, ticket, combine_hook{});
}
