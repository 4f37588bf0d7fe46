// SPDX-License-Identifier: Apache-2.0
// Ranks the elements of a tile by one digit of their keys.
//
// The elements of a warp are striped: item i of lane l is element 32 i + l of the warp's part, so
// that the warp ranks 32 consecutive elements at once.
#pragma once

#include "../detail/key_array.cuh"
#include "../detail/lanes.cuh"
#include "radix_counts.cuh"

namespace fatlink_algorithms {

template <unsigned Threads, unsigned Items>
class tile_ranker {
  static constexpr unsigned k_warps = Threads / k_lanes;
  static constexpr unsigned k_digit_warps = k_digits / k_lanes;  // whose threads have a digit
  static_assert(Threads >= k_digits, "each digit has a thread");

 public:
  static constexpr unsigned tile_size = Threads * Items;

  struct storage {
    unsigned counts[k_warps][k_digits];  // of elements of the warp, then the next place
    unsigned lanes[k_warps][k_digits];   // mask of those whose element has the digit
    unsigned warp_sums[k_digit_warps];
  };

  /// `size`: elements of the tile.
  __device__ tile_ranker(storage& shared, unsigned size) : shared_(shared), size_(size) {}

  __device__ __forceinline__ static bool has_digit() { return threadIdx.x < k_digits; }
  __device__ __forceinline__ bool is_full() const { return size_ == tile_size; }
  __device__ __forceinline__ unsigned size() const { return size_; }

  /// Where item `item` of this thread is in the tile.
  __device__ __forceinline__ static unsigned index_of(unsigned item)
  {
    return warp_index() * Items * k_lanes + item * k_lanes + lane_index();
  }

  /// Loads the tile at `in`, a pointer or an object with operator[]. Items beyond its last element
  /// are copies of the first one, so that hooks get only elements of the array.
  template <typename Item, typename Source>
  __device__ __forceinline__ void load(Item (&items)[Items], Source in) const
  {
#pragma unroll
    for (unsigned i = 0; i < Items; ++i)
      items[i] = in[is_full() || index_of(i) < size_ ? index_of(i) : 0];
  }

  /// Items beyond the last element get the largest digit, so that they stay behind all elements.
  template <typename Element, typename Key>
  __device__ __forceinline__ void find_digits(Element const (&items)[Items], Key const& key,
                                              unsigned pass, unsigned (&digits)[Items]) const
  {
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      digits[i] = digit_of(key(items[i]), pass);
      if (!is_full() && index_of(i) >= size_) digits[i] = k_digits - 1;
    }
  }

  /// Counts the digits. Returns how many items have the thread's digit; 0 for threads without a
  /// digit.
  __device__ __forceinline__ unsigned count(unsigned const (&digits)[Items])
  {
    auto* const counts = shared_.counts[warp_index()];
    auto* const lanes = shared_.lanes[warp_index()];
#pragma unroll
    for (unsigned digit = 0; digit < k_digits; digit += k_lanes)
      counts[digit + lane_index()] = lanes[digit + lane_index()] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) atomicAdd(&counts[digits[i]], 1U);
    __syncthreads();
    return has_digit() ? sum_warps() : 0;
  }

  /// Returns how many items have a smaller digit than the thread's. `sum`: how many have the
  /// thread's digit. Prepares rank().
  __device__ __forceinline__ unsigned count_before(unsigned sum)
  {
    auto const warp = warp_index();
    auto const scanned = scan_lanes(sum, [](unsigned a, unsigned b) { return a + b; });
    if (has_digit() && lane_index() == k_lanes - 1) shared_.warp_sums[warp] = scanned;
    __syncthreads();
    auto before = scanned - sum;
#pragma unroll
    for (unsigned i = 0; i < k_digit_warps; ++i)
      if (i < warp) before += shared_.warp_sums[i];
    if (has_digit())
#pragma unroll
      for (unsigned i = 0; i < k_warps; ++i) shared_.counts[i][threadIdx.x] += before;
    __syncthreads();
    return before;
  }

  /// Replaces digits by places in the sorted tile. Lanes with the same digit find each other by a
  /// mask in shared memory; the last of them adds their number.
  __device__ __forceinline__ void rank(unsigned (&places)[Items])
  {
    auto* const counts = shared_.counts[warp_index()];
    auto* const lanes = shared_.lanes[warp_index()];
    auto const own = 1U << lane_index();
    auto const up_to_own = own | (own - 1);
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      auto const digit = places[i];
      atomicOr(&lanes[digit], own);
      __syncwarp();
      auto const alike = lanes[digit];
      __syncwarp();
      auto const last = k_lanes - 1 - static_cast<unsigned>(__clz(static_cast<int>(alike)));
      auto const place = static_cast<unsigned>(__popc(alike & up_to_own));
      unsigned before = 0;
      if (lane_index() == last) {
        before = atomicAdd(&counts[digit], place);
        lanes[digit] = 0;
      }
      before = from_lane(before, last);
      __syncwarp();
      places[i] = before + place - 1;
    }
  }

 private:
  /// For the thread's digit: replaces the count of each warp by the sum of the warps before it.
  /// Returns the sum of all warps.
  __device__ __forceinline__ unsigned sum_warps()
  {
    unsigned sum = 0;
#pragma unroll
    for (unsigned warp = 0; warp < k_warps; ++warp) {
      auto& count = shared_.counts[warp][threadIdx.x];
      auto const own = count;
      count = sum;
      sum += own;
    }
    return sum;
  }

  storage& shared_;
  unsigned size_;
};

}  // namespace fatlink_algorithms
