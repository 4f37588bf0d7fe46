// SPDX-License-Identifier: Apache-2.0
// The kernels of reduce and transform_reduce, for any source of elements. The elements are cut into
// chunks, one for each block; a chunk is cut into shares of whole tiles, one for each warp. The cut
// follows from the number of elements only.
#pragma once

#include "../detail/block_fold.cuh"
#include "../detail/sources.cuh"

namespace fatlink_algorithms {

/// partial[b] = the elements of chunk b, for each block b.
/// @param share  packs of a warp: a multiple of those of a tile, at least the last chunk is not
///   empty
template <typename Shape, unsigned Threads, typename Source, typename Combine>
__device__ __forceinline__ void reduce_chunk(Source const& source,
                                             typename Source::element* partial, std::size_t n,
                                             std::size_t share, Combine combine)
{
  auto const chunk = share * (Threads / k_warp);
  auto const first = blockIdx.x * chunk;
  auto const last = min((first + chunk) * Shape::pack, n);
  auto const total = block_fold<Shape, Threads>(source, first, share, last, combine);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// *out = combine(init, all elements), or init without elements. One block.
template <typename Shape, unsigned MostThreads, typename Source, typename Combine>
__device__ __forceinline__ void reduce_all(Source const& source, typename Source::element* out,
                                           std::size_t n, typename Source::element init,
                                           Combine combine)
{
  if (n == 0) {
    if (threadIdx.x == 0) *out = init;
    return;
  }
  auto const row = std::size_t{Shape::pack} * (blockDim.x / k_warp);
  auto const share = (n + row - 1) / row;
  auto const total = block_fold<Shape, MostThreads>(source, 0, share, n, combine);
  if (threadIdx.x == 0) *out = combine(init, total);
}

}  // namespace fatlink_algorithms
