// SPDX-License-Identifier: Apache-2.0
// The library reduce_N: *out = combine(init, in[0], …, in[n - 1]) in the order of the array. Small
// arrays take one launch of reduce_block. Others take one of reduce_chunks, which makes a partial
// result for each chunk, and one of reduce_block for those, which overlaps it.
#include "../combine.cuh"
#include "../detail/hooks.cuh"
#include "../detail/overlap.cuh"
#include "reduce.cuh"

using namespace fatlink_algorithms;

namespace {

constexpr unsigned k_threads = 256;
constexpr unsigned k_last_threads = 512;
constexpr unsigned k_rows = FATLINK_ELEMENT_BYTES == 32 ? 2 : 4;
// Measured on an H200: large elements take 2 % longer by fast_tiles.
constexpr auto k_reading = FATLINK_ELEMENT_BYTES >= 8 ? reading::tiles : reading::fast_tiles;
using shape = tile_shape<FATLINK_ELEMENT_BYTES, k_rows, 1>;
using wide_shape = tile_shape<FATLINK_ELEMENT_BYTES, k_rows, 2>;

}  // namespace

extern "C" __global__ void __launch_bounds__(k_threads)
    reduce_chunks(fatlink_element const* __restrict__ in, fatlink_element* __restrict__ partial,
                  std::size_t n, unsigned long long const* limit, std::size_t share)
{
  start_next_launch();
  auto const zero = wait_for_last_launch();
  reduce_chunk<wide_shape, k_threads, k_reading>(array_source{in + zero}, partial, {n, limit},
                                                 share, combine_hook{});
}

// `in` is an array, or the partial results of the launch before, which this one overlaps: one for
// each `chunk` elements of *limit.
extern "C" __global__ void __launch_bounds__(k_last_threads)
    reduce_block(fatlink_element const* in, fatlink_element* __restrict__ out, std::size_t n,
                 unsigned long long const* limit, std::size_t chunk, fatlink_element init)
{
  start_next_launch();
  wait_for_last_launch();
  array_source<fatlink_element, written::during> const source{in};
  reduce_all<shape, k_last_threads>(source, out, limited_chunks(n, limit, chunk), init,
                                    combine_hook{});
}
