// SPDX-License-Identifier: Apache-2.0
// The library exclusive_scan_N: out[i] = combine(init, in[0], …, in[i - 1]). Before
// exclusive_scan_small_tiles or exclusive_scan_tiles a launch of exclusive_scan_clear.
// `in` and `out` are aligned to 16 bytes, and are the same array or do not overlap.
#include "../combine.cuh"
#include "../detail/hooks.cuh"
#include "../scan/scan_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void exclusive_scan_clear(slot<fatlink_element>* slots, std::size_t count,
                                                unsigned* ticket)
{
  start_next_launch();
  clear_slots(slots, count, ticket);
}

extern "C" __global__ void __launch_bounds__(k_scan_threads, k_small_blocks)
    exclusive_scan_small_tiles(fatlink_element const* in, fatlink_element* out, std::size_t n,
                               fatlink_element init,

                               slot<fatlink_element>* slots, unsigned* ticket)
{
  scan_tile<true, tile_kind::small>(in, out, n, init, slots, ticket, combine_hook{});
}

extern "C" __global__ void __launch_bounds__(k_scan_threads, k_large_blocks)
    exclusive_scan_tiles(fatlink_element const* in, fatlink_element* out, std::size_t n,
                         fatlink_element init,

                         slot<fatlink_element>* slots, unsigned* ticket)
{
  scan_tile<true, tile_kind::large>(in, out, n, init, slots, ticket, combine_hook{});
}
