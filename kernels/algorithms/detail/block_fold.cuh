// SPDX-License-Identifier: Apache-2.0
// Folds a range of elements with a block, in order. Each warp folds a share of its own.
#pragma once

#include <cstddef>

#include "warp_fold.cuh"

namespace fatlink_algorithms {

/// Folds the elements from pack `first` up to `last`: one at least. Warp w takes the `share` packs
/// from first + w * share; the block's shares cover the range. Thread 0 gets the result. The block
/// has at most MostThreads threads.
template <typename Shape, unsigned MostThreads, typename Source, typename Combine>
__device__ __forceinline__ auto block_fold(Source const& source, std::size_t first,
                                           std::size_t share, std::size_t last, Combine combine)
{
  using element = typename Source::element;
  __shared__ element totals[MostThreads / k_warp];
  auto const warp = threadIdx.x / k_warp;
  auto const lane = lane_index();

  auto const begin = first + warp * share;
  auto const end = min((begin + share) * Shape::pack, last);
  element total{};
  if (begin * Shape::pack < end) {
    total = warp_fold<Shape>(source, begin, end, combine);
    if (lane == 0) totals[warp] = total;
  }
  __syncthreads();
  if (warp == 0) {
    auto const covered = share * Shape::pack;
    auto const parts = (last - first * Shape::pack + covered - 1) / covered;
    auto const warps = static_cast<unsigned>(min(parts, std::size_t{blockDim.x / k_warp}));
    total = fold_lanes(totals[lane < warps ? lane : 0], warps, combine);
  }
  return total;
}

}  // namespace fatlink_algorithms
