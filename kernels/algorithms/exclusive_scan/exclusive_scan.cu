// SPDX-License-Identifier: Apache-2.0
// The library exclusive_scan_N: out[i] = combine(init, in[0], …, in[i - 1]). A launch of
// exclusive_scan_clear, then one of exclusive_scan_tiles.
// `in` and `out` are the same array or do not overlap.
#include "../combine.cuh"
#include "../detail/hooks.cuh"
#include "../scan/scan_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void exclusive_scan_clear(slot<fatlink_element>* slots, std::size_t count,
                                                unsigned* ticket)
{
  start_next_launch();
  wait_for_last_launch();
  clear_slots(slots, count, ticket);
}

extern "C" __global__ void __launch_bounds__(k_scan_threads, k_scan_blocks)
    exclusive_scan_tiles(fatlink_element const* in, fatlink_element* out, std::size_t n,
                         unsigned long long const* limit, fatlink_element init,
                         slot<fatlink_element>* slots, unsigned* ticket)
{
  scan_tile<true>(in, out, {n, limit}, init, slots, ticket, combine_hook{});
}
