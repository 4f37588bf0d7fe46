// SPDX-License-Identifier: Apache-2.0
// Finds a limit that the k smallest keys of an array very likely do not exceed, and few others: a
// key of a sample whose rank in it is larger than that of the k-th smallest key of the array is
// expected to be, by more than five standard deviations.
#pragma once

#include "selection.cuh"

namespace fatlink_algorithms {

template <typename Element, typename Key, unsigned Threads, unsigned Items>
class limit_sampler {
 public:
  struct storage {
    unsigned counts[3];  // of round r: r % 3
  };

  /// `size`: of the sample, at most Threads * Items and less than the array.
  __device__ limit_sampler(storage& shared, Element const* in, unsigned size,
                           selection_sizes const& sizes, aligned_key<Key> key)
      : shared_(shared), size_(size), sizes_(sizes)
  {
    shared_.counts[0] = 0;
    auto const distance = static_cast<unsigned>(sizes.n / size);
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      auto const i = item * Threads + threadIdx.x;
      auto const place = std::size_t{i} * distance + __umulhi(mixed(i), distance);
      words_[item] = i < size ? key(in[place]) : k_most;
    }
  }

  /// Called by all threads. Sets step 0 of the selection, which has nothing to do if too much of
  /// the sample is up to the limit.
  __device__ __forceinline__ void choose(step_choice& choice)
  {
    auto const expected = static_cast<float>(sizes_.k * size_) / static_cast<float>(sizes_.n);
    auto const wanted = static_cast<unsigned>(expected + 5 * sqrtf(expected)) + 3;
    __syncthreads();
    key_word low = 0;
    auto limit = k_most;
    auto count = size_;  // of the sample, up to the limit
    for (unsigned round = 0; low < limit && count > wanted + wanted / 8; ++round) {
      auto const middle = low + (limit - low) / 2;
      auto const smaller = count_up_to(middle, round);
      if (smaller >= wanted) {
        limit = middle;
        count = smaller;
      } else {
        low = middle + 1;
      }
    }
    if (threadIdx.x == 0) set(choice, limit, count <= size_ / k_limited_part);
  }

 private:
  static constexpr auto k_most = static_cast<key_word>(~0ULL);

  /// So that the sample has no period.
  __device__ static unsigned mixed(unsigned i)
  {
    i = (i ^ i >> 16U) * 0x85EBCA6BU;
    i = (i ^ i >> 13U) * 0xC2B2AE35U;
    return i ^ i >> 16U;
  }

  /// `limit` is less than k_most.
  __device__ __forceinline__ unsigned count_up_to(key_word limit, unsigned round)
  {
    unsigned count = 0;  // of the warp
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      count += __popc(__ballot_sync(k_all_lanes, words_[item] <= limit));
    if (threadIdx.x == 0) shared_.counts[(round + 1) % 3] = 0;
    if (lane_index() == 0) atomicAdd(&shared_.counts[round % 3], count);
    __syncthreads();
    return shared_.counts[round % 3];
  }

  __device__ __forceinline__ void set(step_choice& choice, key_word limit, bool is_used)
  {
    choice.start = {is_used ? sizes_.n : 0, 0, 0, candidates::in_array};
    choice.to = candidates::in_first;
    choice.first = 0;
    choice.last = limit;
    choice.smaller = 0;
    choice.same = sizes_.n / k_copied_part;
    choice.copied = choice.same;
  }

  storage& shared_;
  unsigned size_;
  selection_sizes sizes_;
  key_word words_[Items];
};

}  // namespace fatlink_algorithms
