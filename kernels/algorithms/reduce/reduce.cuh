// SPDX-License-Identifier: Apache-2.0
// The kernels of reduce and transform_reduce, for any source of elements. The elements are cut into
// chunks, one for each block; a chunk is cut into shares of whole tiles, one for each warp. The cut
// follows from the number of elements only.
#pragma once

#include "../detail/block_fold.cuh"
#include "../detail/limit.cuh"
#include "../detail/sources.cuh"

namespace fatlink_algorithms {

/// partial[b] = the elements of chunk b, for each block b, of at most MostThreads threads.
/// @param share  packs of a warp: a multiple of those of a tile, at least the last chunk is not
///   empty unless the number of elements is limited
template <typename Shape, unsigned MostThreads, reading Reading, typename Source, typename Combine>
__device__ __forceinline__ void reduce_chunk(Source const& source,
                                             typename Source::element* partial, element_count n,
                                             std::size_t share, Combine combine)
{
  auto const chunk = share * (blockDim.x / k_warp);
  auto const first = blockIdx.x * chunk;
  if (n.limit != nullptr && first * Shape::pack >= *n.limit) return;
  auto const total = block_fold<Shape, MostThreads, Reading>(source, first, share, n, combine);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// Folds `count` elements, one for each thread: one at least, at most as many as threads. Thread 0
/// gets the result.
template <unsigned MostThreads, typename Source, typename Combine>
__device__ __forceinline__ auto fold_few(Source const& source, unsigned count, Combine combine)
{
  typename Source::element item[1];
  source.load_elements(min(threadIdx.x, count - 1), 1, item);
  auto const first = threadIdx.x - lane_index();
  auto const has_elements = first < count;
  auto const lanes = has_elements ? min(count - first, k_warp) : 1;
  return fold_warps<MostThreads>(fold_lanes(item[0], lanes, combine), has_elements, combine);
}

/// *out = combine(init, all elements), or init without elements. One block; its number of warps is
/// a power of two.
template <typename Shape, unsigned MostThreads, typename Source, typename Combine>
__device__ __forceinline__ void reduce_all(Source const& source, typename Source::element* out,
                                           std::size_t n, typename Source::element init,
                                           Combine combine)
{
  if (n == 0) {
    if (threadIdx.x == 0) *out = init;
    return;
  }
  typename Source::element total;
  if (n <= blockDim.x) {
    total = fold_few<MostThreads>(source, static_cast<unsigned>(n), combine);
  } else {
    auto const packs = (n + Shape::pack - 1) / Shape::pack;
    total = block_fold<Shape, MostThreads, reading::parts>(source, 0, share_of_warp(packs),
                                                           {n, nullptr}, combine);
  }
  if (threadIdx.x == 0) *out = combine(init, total);
}

}  // namespace fatlink_algorithms
