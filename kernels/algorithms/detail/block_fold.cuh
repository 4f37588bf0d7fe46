// SPDX-License-Identifier: Apache-2.0
// Folds a range of elements with a block, in order. Each warp folds a share of its own.
#pragma once

#include <cstddef>

#include "limit.cuh"
#include "warp_fold.cuh"

namespace fatlink_algorithms {

/// Folds the values of lane 0 of the first warps of the block, those that have one: one at least.
/// Thread 0 gets the result. All threads of the block, MostThreads at most, call it.
template <unsigned MostThreads, typename Element, typename Combine>
__device__ __forceinline__ Element fold_warps(Element const& value, bool has_value, Combine combine)
{
  __shared__ Element totals[MostThreads / k_warp];
  auto const is_first_lane = has_value && threadIdx.x % k_warp == 0;
  if (is_first_lane) totals[threadIdx.x / k_warp] = value;
  auto const warps = static_cast<unsigned>(__syncthreads_count(is_first_lane));
  if constexpr (MostThreads <= 4 * k_warp) {
    return threadIdx.x == 0 ? fold_items(totals, warps, combine) : value;
  } else {  // the operator is expanded fewer times
    if (threadIdx.x >= k_warp) return value;
    auto const total = totals[min(threadIdx.x, warps - 1)];
    return fold_lanes<MostThreads / k_warp>(total, warps, combine);
  }
}

/// The packs of each warp of a block that folds `packs` packs: whole rows. The number of warps is a
/// power of two.
__device__ __forceinline__ std::size_t share_of_warp(std::size_t packs)
{
  auto const shift = 31 - __clz(static_cast<int>(blockDim.x));
  return (packs + blockDim.x - 1) >> shift << 5;
}

/// Folds the elements from pack `first` up to `last`: one at least. Warp w takes the `share` packs
/// from first + w * share; the block's shares cover the range. Thread 0 gets the result. The block
/// has at most MostThreads threads.
template <typename Shape, unsigned MostThreads, reading Reading = reading::tiles, typename Source,
          typename Combine>
__device__ __forceinline__ auto block_fold(Source const& source, std::size_t first,
                                           std::size_t share, element_count last, Combine combine)
{
  auto const begin = first + threadIdx.x / k_warp * share;
  auto const end = last.clip((begin + share) * Shape::pack);
  auto const has_elements = begin * Shape::pack < end;
  typename Source::element total{};
  if (has_elements) {
    if constexpr (Reading == reading::tiles)
      total = warp_fold<Shape>(source, begin, end, combine);
    else
      total = compact_warp_fold<Shape, Reading>(source, begin, end, combine);
  }
  return fold_warps<MostThreads>(total, has_elements, combine);
}

}  // namespace fatlink_algorithms
