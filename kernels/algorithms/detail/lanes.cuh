// SPDX-License-Identifier: Apache-2.0
// Elements in the lanes of a warp: shuffles, and scans in lane order with an operator that need not
// be commutative. All 32 lanes of the warp call each function together.
#pragma once

#include <cstring>

namespace fatlink_algorithms {

constexpr unsigned k_lanes = 32;
constexpr unsigned k_all_lanes = 0xFFFFFFFFU;

__device__ inline unsigned lane_index()
{
  return threadIdx.x % k_lanes;
}
__device__ inline unsigned warp_index()
{
  return threadIdx.x / k_lanes;
}

/// `value` with each of its 32-bit words replaced by shuffle(word).
template <typename Value, typename Shuffle>
__device__ __forceinline__ Value shuffle_words(Value const& value, Shuffle shuffle)
{
  constexpr unsigned k_words = (sizeof(Value) + 3) / 4;
  unsigned words[k_words] = {};
  memcpy(words, &value, sizeof(Value));
#pragma unroll
  for (unsigned k = 0; k < k_words; ++k) words[k] = shuffle(words[k]);
  Value result;
  memcpy(&result, words, sizeof(Value));
  return result;
}

/// The value of `lane`.
template <typename Value>
__device__ __forceinline__ Value from_lane(Value const& value, unsigned lane)
{
  return shuffle_words(value, [lane](unsigned word) {
    return __shfl_sync(k_all_lanes, word, static_cast<int>(lane));
  });
}

/// The value of the lane `distance` before this one; lanes without such a lane keep their own.
template <typename Value>
__device__ __forceinline__ Value from_lane_before(Value const& value, unsigned distance)
{
  return shuffle_words(
      value, [distance](unsigned word) { return __shfl_up_sync(k_all_lanes, word, distance); });
}

/// The values of the lanes 0 to this one, combined in lane order, always in the same association.
/// The result of a lane does not depend on the values of later lanes.
template <typename Value, typename Combine>
__device__ __forceinline__ Value scan_lanes(Value value, Combine combine)
{
#pragma unroll
  for (unsigned distance = 1; distance < k_lanes; distance *= 2) {
    auto const before = from_lane_before(value, distance);
    if (lane_index() >= distance) value = combine(before, value);
  }
  return value;
}

}  // namespace fatlink_algorithms
