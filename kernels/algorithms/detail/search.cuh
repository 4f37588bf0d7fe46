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

/// The probe of a lane around `guess`, below `high`: six to each side one after the other, others
/// at distances that double, up to 6,144.
__device__ __forceinline__ std::size_t probe_around(std::size_t guess, std::size_t low)
{
  auto const lane = lane_index();
  auto const step = lane < k_warp / 2 ? k_warp / 2 - lane : lane - k_warp / 2;  // 16 to 1, 0 to 15
  auto const distance = step < 6 ? step : 6U << (step - 6);
  if (lane >= k_warp / 2) return guess + distance;
  return guess - low > distance ? guess - distance : low;
}

/// As warp_partition_point for two searches at a time, of is_before(0, i) and is_before(1, i), each
/// around a guess at first, so that a right one takes one access. `found` has the guesses, and gets
/// the results.
template <typename IsBefore>
__device__ __forceinline__ void warp_partition_points(std::size_t count, std::size_t (&found)[2],
                                                      IsBefore is_before)
{
  std::size_t low[2] = {0, 0};
  std::size_t high[2] = {count, count};
  auto is_guess = true;
  while (low[0] < high[0] || low[1] < high[1]) {
    std::size_t probe[2];
    bool before[2];
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
      auto const step = (high[k] - low[k] + k_warp - 1) / k_warp;
      probe[k] = is_guess ? probe_around(found[k], low[k]) : low[k] + (lane_index() + 1) * step - 1;
      before[k] = probe[k] < high[k] && is_before(k, probe[k]);
    }
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
      auto const passed = __popc(__ballot_sync(k_all_lanes, before[k]));
      auto const last = __shfl_sync(k_all_lanes, probe[k], max(passed, 1) - 1);
      auto const next = __shfl_sync(k_all_lanes, probe[k], min(passed, 31));
      if (passed > 0) low[k] = last + 1;
      if (passed < 32) high[k] = min(high[k], next);
    }
    is_guess = false;
  }
  found[0] = low[0];
  found[1] = low[1];
}

}  // namespace fatlink_algorithms
