// SPDX-License-Identifier: Apache-2.0
// Moves opaque elements between the lanes of a warp, and combines them in the order of the lanes.
// All 32 lanes call each function.
#pragma once

#include <fatlink/opaque_element.cuh>

namespace fatlink_algorithms {

constexpr unsigned k_warp = 32;
constexpr unsigned k_all_lanes = 0xFFFFFFFF;

__device__ __forceinline__ unsigned lane_index()
{
  unsigned lane = 0;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/// `value` of the lane whose index differs by `mask`.
template <typename Element>
__device__ __forceinline__ Element shuffle_xor(Element value, unsigned mask)
{
  for (auto& word : value.words)
    word = __shfl_xor_sync(k_all_lanes, static_cast<unsigned>(word), mask);
  return value;
}

/// `value` of the lane `delta` above, or the own one where there is none.
template <typename Element>
__device__ __forceinline__ Element shuffle_down(Element value, unsigned delta)
{
  for (auto& word : value.words)
    word = __shfl_down_sync(k_all_lanes, static_cast<unsigned>(word), delta);
  return value;
}

/// `value` of the lane `delta` below, or the own one where there is none.
template <typename Element>
__device__ __forceinline__ Element shuffle_up(Element value, unsigned delta)
{
  for (auto& word : value.words)
    word = __shfl_up_sync(k_all_lanes, static_cast<unsigned>(word), delta);
  return value;
}

/// `value` of lane `lane`.
template <typename Element>
__device__ __forceinline__ Element shuffle_from(Element value, unsigned lane)
{
  for (auto& word : value.words)
    word = __shfl_sync(k_all_lanes, static_cast<unsigned>(word), static_cast<int>(lane));
  return value;
}

/// `a` if `condition`, else `b`, without a branch.
template <typename Element>
__device__ __forceinline__ Element select(bool condition, Element a, Element const& b)
{
  for (unsigned k = 0; k < sizeof a.words / sizeof a.words[0]; ++k)
    a.words[k] = condition ? a.words[k] : b.words[k];
  return a;
}

/// Combines the own value with that of the lane `delta` above, if `both`.
template <typename Element, typename Combine>
__device__ __forceinline__ Element combine_down(Element const& value, unsigned delta, bool both,
                                                Combine combine)
{
  return select(both, combine(value, shuffle_down(value, delta)), value);
}

/// Combines the values of the first `lanes` lanes: at least 1, at most `Most`. Lane 0 gets the
/// result.
template <unsigned Most = k_warp, typename Element, typename Combine>
__device__ __forceinline__ Element fold_lanes(Element value, unsigned lanes, Combine combine)
{
  auto const lane = lane_index();
#pragma unroll
  for (unsigned delta = 1; delta < Most; delta *= 2)
    value = combine_down(value, delta, lane + delta < lanes, combine);
  return value;
}

}  // namespace fatlink_algorithms
