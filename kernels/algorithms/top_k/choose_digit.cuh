// SPDX-License-Identifier: Apache-2.0
// Counts a digit of candidates, and chooses that of the k-th smallest key.
// Each block counts in shared memory and adds its counts to those in global memory. The last block
// that does so chooses.
#pragma once

#include "selection.cuh"

namespace fatlink_algorithms {

/// All threads of a block call each function, except count().
template <unsigned Threads>
class digit_chooser {
  static constexpr unsigned k_warps = Threads / k_lanes;
  static constexpr unsigned k_own = k_select_digits / Threads;  // digits of a thread
  static_assert(k_own * Threads == k_select_digits, "each thread has the same number of digits");

 public:
  struct storage {
    unsigned counts[k_select_digits];
    unsigned long long warp_sums[k_warps];
    bool is_last;
  };

  __device__ digit_chooser(storage& shared, selection& all, unsigned digit,
                           selection_sizes const& sizes)
      : shared_(shared), all_(all), target_(all.steps[digit + 1]), digit_(digit), sizes_(sizes)
  {
  }

  /// A barrier must follow before count().
  __device__ __forceinline__ void clear()
  {
#pragma unroll
    for (unsigned i = 0; i < k_own; ++i) shared_.counts[i * Threads + threadIdx.x] = 0;
  }

  /// Counts a candidate, whose aligned key is `word`.
  __device__ __forceinline__ void count(key_word word)
  {
    atomicAdd(&shared_.counts[digit_layout::value_of(word, digit_)], 1U);
  }

  /// Adds the block's counts to those of the step. In the last block, chooses the digit, unless the
  /// candidates are those up to a limit and there are less than k or more than start.size.
  __device__ __forceinline__ void finish(step_start const& start)
  {
    __syncthreads();
    for (auto i = threadIdx.x; i < k_select_digits; i += Threads)
      if (shared_.counts[i] != 0)
        atomicAdd(&target_.counts[i], static_cast<unsigned long long>(shared_.counts[i]));
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) shared_.is_last = atomicAdd(&target_.finished, 1U) == gridDim.x - 1;
    __syncthreads();
    if (!shared_.is_last) return;
    __threadfence();
    choose(start);
  }

 private:
  __device__ __forceinline__ void choose(step_start start)
  {
    auto* const counts = target_.counts + threadIdx.x * k_own;
    unsigned long long own[k_own];
    unsigned long long sum = 0;
#pragma unroll
    for (unsigned i = 0; i < k_own; ++i) {
      own[i] = load_relaxed(counts + i);
      sum += own[i];
    }
    unsigned long long total = 0;
    auto smaller = sum_before(sum, total);
    if (digit_ == 0 && start.from == candidates::in_first) {
      if (total < sizes_.k || total > start.size) return reset(counts);
      start.size = total;
    }
    auto const wanted = sizes_.k - start.below;
    if (smaller >= wanted || smaller + sum < wanted) return;  // another thread has the digit
    auto digit = threadIdx.x * k_own;
    auto same = own[0];
#pragma unroll
    for (unsigned i = 1; i < k_own; ++i) {
      if (smaller + same >= wanted) continue;
      smaller += same;
      same = own[i];
      ++digit;
    }
    set(start, digit, smaller, same);
  }

  /// The sum of the values of the threads before this one, and of all.
  __device__ __forceinline__ unsigned long long sum_before(unsigned long long value,
                                                           unsigned long long& total)
  {
    auto const all = scan_lanes(tile_count{value}, add_counts()).value;
    if (lane_index() == k_lanes - 1) shared_.warp_sums[warp_index()] = all;
    __syncthreads();
    auto sum = all - value;
#pragma unroll
    for (unsigned warp = 0; warp < k_warps; ++warp) {
      if (warp < warp_index()) sum += shared_.warp_sums[warp];
      total += shared_.warp_sums[warp];
    }
    return sum;
  }

  /// For another count.
  __device__ __forceinline__ void reset(unsigned long long* counts)
  {
#pragma unroll
    for (unsigned i = 0; i < k_own; ++i) counts[i] = 0;
    target_.finished = 0;
  }

  /// Called by one thread. `same`: candidates with the digit.
  __device__ __forceinline__ void set(step_start const& start, unsigned digit,
                                      unsigned long long smaller, unsigned long long same)
  {
    auto const shift = digit_layout::shift_of(digit_);
    auto const first = start.base + (static_cast<unsigned long long>(digit) << shift);
    auto const below = start.below + smaller;
    auto const copied = below + same <= sizes_.capacity ? same : sizes_.k - below;
    step_choice choice{start, start.from, first, (1ULL << shift) - 1, smaller, same, same};
    if (digit_ + 1 == sizes_.digits || copied == same) {
      choice.to = candidates::in_result;
      choice.copied = copied;
      all_.size = below + copied;
    } else if (same <= start.size / k_copied_part) {
      choice.to = start.from == candidates::in_first ? candidates::in_second : candidates::in_first;
    }
    target_.choice = choice;
  }

  storage& shared_;
  selection& all_;
  selection_step& target_;
  unsigned digit_;
  selection_sizes sizes_;
};

}  // namespace fatlink_algorithms
