// SPDX-License-Identifier: Apache-2.0
// Binary search by a warp, with 32 probes at a time.
#pragma once

#include <cstddef>

#include "shuffle.cuh"

namespace fatlink_algorithms {

/// The first index below `count` for which `is_before` is false, or `count`. `is_before` is true up
/// to some index. All 32 lanes call it with the same arguments, and get the result.
template <typename IsBefore>
__device__ __forceinline__ std::size_t warp_partition_point(std::size_t count, IsBefore is_before)
{
  std::size_t low = 0;
  auto high = count;
  while (low < high) {
    auto const step = (high - low + k_warp - 1) / k_warp;
    auto const probe = low + (lane_index() + 1) * step - 1;
    auto const before = probe < high && is_before(probe);
    auto const passed = static_cast<unsigned>(__popc(__ballot_sync(k_all_lanes, before)));
    high = min(high, low + (passed + 1) * step - 1);
    low += passed * step;
  }
  return low;
}

}  // namespace fatlink_algorithms
