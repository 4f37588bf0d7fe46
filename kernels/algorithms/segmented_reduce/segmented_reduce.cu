// SPDX-License-Identifier: Apache-2.0
// The library segmented_reduce_N: out[i] = combine(init, the elements of segment i in order), or
// init for an empty segment. See segmented_reduce.cuh.
//
// Segments of a medium length on average: a warp for each, or a block if there are few. Else
// chunks, and then what is open at their ends.
#include "../combine.cuh"
#include "../detail/hooks.cuh"
#include "../detail/overlap.cuh"
#include "block_segments.cuh"

namespace {

using namespace fatlink_algorithms;

constexpr unsigned k_chunk_threads = 128;  // of segmented_reduce_chunks
constexpr unsigned k_close_threads = 256;  // of segmented_reduce_close
constexpr unsigned k_warp_threads = 128;   // of segmented_reduce_warps
constexpr unsigned k_small_threads = 128;  // of segmented_reduce_small_blocks
constexpr unsigned k_block_threads = 512;  // of segmented_reduce_blocks, at most
constexpr unsigned k_long_segment = 8192;
using shape = tile_shape<FATLINK_ELEMENT_BYTES, FATLINK_ELEMENT_BYTES == 32 ? 2 : 4, 1>;
using small_block_shape = tile_shape<FATLINK_ELEMENT_BYTES, 2, FATLINK_ELEMENT_BYTES == 32 ? 1 : 2>;
using element = fatlink_element;

__device__ segments<element, combine_hook> segments_of(element const* in,
                                                       std::uint64_t const* offsets, element* out,
                                                       element const& init)
{
  return {array_source{in}, offsets, out, init, {}};
}

}  // namespace

extern "C" __global__ void __launch_bounds__(k_warp_threads)
    segmented_reduce_warps(element const* __restrict__ in,
                           std::uint64_t const* __restrict__ offsets, element* __restrict__ out,
                           std::size_t segments, element init)
{
  reduce_segments_by_warps<shape, k_warp_threads, k_long_segment>(
      segments_of(in, offsets, out, init), segments);
}

extern "C" __global__ void __launch_bounds__(k_small_threads)
    segmented_reduce_small_blocks(element const* __restrict__ in,
                                  std::uint64_t const* __restrict__ offsets,
                                  element* __restrict__ out, element init)
{
  reduce_segment_by_block<small_block_shape, k_small_threads>(segments_of(in, offsets, out, init));
}

extern "C" __global__ void __launch_bounds__(k_block_threads)
    segmented_reduce_blocks(element const* __restrict__ in,
                            std::uint64_t const* __restrict__ offsets, element* __restrict__ out,
                            element init)
{
  reduce_segment_by_block<shape, k_block_threads>(segments_of(in, offsets, out, init));
}

extern "C" __global__ void __launch_bounds__(k_chunk_threads)
    segmented_reduce_chunks(element const* __restrict__ in,
                            std::uint64_t const* __restrict__ offsets, element* __restrict__ out,
                            element* __restrict__ tail, element* __restrict__ open,
                            std::uint64_t* __restrict__ record, std::size_t n, std::size_t segments,
                            std::size_t chunks, std::size_t length, element init)
{
  __shared__ segment_tile<element> tiles[k_chunk_threads / k_warp];
  start_next_launch();
  auto const warp = threadIdx.x / k_warp;
  auto const chunk = std::size_t{blockIdx.x} * (k_chunk_threads / k_warp) + warp;
  if (chunk < chunks)
    reduce_chunk(segments_of(in, offsets, out, init), n, segments, chunk, length,
                 {tail, open, record}, tiles[warp]);
}

extern "C" __global__ void __launch_bounds__(k_close_threads)
    segmented_reduce_close(element* __restrict__ out, element* tail, element* open,
                           std::uint64_t* record, std::size_t chunks, element init)
{
  wait_for_last_launch();
  close_segments<shape, k_close_threads>(segments_of(open, nullptr, out, init), chunks,
                                         {tail, open, record});
}
