// SPDX-License-Identifier: Apache-2.0
// The first step of a radix sort: finds, for each pass and digit, where the elements with that
// digit begin in the result of the pass. It reads the array once to count the digits of all passes.
#pragma once

#include "../detail/look_back.cuh"
#include "../detail/rows.cuh"
#include "radix_counts.cuh"

namespace fatlink_algorithms {

/// @tparam Passes  the largest number of passes of a sort
template <typename Element, typename Key, unsigned Threads, unsigned Rows, unsigned Passes>
class digit_counter {
  static constexpr unsigned k_copies = Passes == 1 ? 4 : Passes == 2 ? 2 : 1;
  static constexpr unsigned k_tile = tile_elements<Element, Rows>(Threads);

 public:
  struct storage {
    unsigned counts[Passes][k_digits][k_copies];
    bool is_last;
  };

  __device__ digit_counter(storage& shared, Element const* in, std::size_t n, unsigned passes,
                           radix_counts& counts, Key key)
      : shared_(shared), in_(in), n_(n), passes_(passes), counts_(counts), key_(key)
  {
  }

  /// Called by all threads of a grid of any size.
  __device__ __forceinline__ void count()
  {
    for (auto i = threadIdx.x; i < Passes * k_digits * k_copies; i += Threads)
      (&shared_.counts[0][0][0])[i] = 0;
    __syncthreads();
    for (auto begin = std::size_t{blockIdx.x} * k_tile; begin < n_;
         begin += std::size_t{gridDim.x} * k_tile)
      count_tile(begin);
    __syncthreads();
    for (auto i = threadIdx.x; i < passes_ * k_digits; i += Threads)
      add(i / k_digits, i % k_digits);
    finish();
  }

 private:
  __device__ __forceinline__ void count_tile(std::size_t begin)
  {
    auto const count = n_ - begin;
    rows<Element, Rows> items;
    load_tile(items, in_ + begin, count, k_tile);
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      auto const first = index_in_tile<Element, Rows>(row);
#pragma unroll
      for (unsigned k = 0; k < k_vector<Element>; ++k)
        if (first + k < count) count_element(items.vectors[row][k]);
    }
  }

  __device__ __forceinline__ void count_element(Element const& element)
  {
    auto const key = key_(element);
#pragma unroll
    for (unsigned pass = 0; pass < Passes; ++pass)
      if (pass < passes_)
        atomicAdd(&shared_.counts[pass][digit_of(key, pass)][lane_index() % k_copies], 1U);
  }

  __device__ __forceinline__ void add(unsigned pass, unsigned digit)
  {
    unsigned sum = 0;
#pragma unroll
    for (unsigned copy = 0; copy < k_copies; ++copy) sum += shared_.counts[pass][digit][copy];
    if (sum != 0) atomicAdd(&counts_.starts[pass][digit], static_cast<unsigned long long>(sum));
  }

  /// The last block to get here replaces the counts, the sums of all blocks, by exclusive sums.
  __device__ __forceinline__ void finish()
  {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) shared_.is_last = atomicAdd(&counts_.finished, 1U) == gridDim.x - 1;
    __syncthreads();
    if (!shared_.is_last) return;
    __threadfence();
    for (auto pass = warp_index(); pass < passes_; pass += Threads / k_lanes) sum_up(pass);
  }

  /// Called by a warp; each lane handles 8 digits.
  __device__ __forceinline__ void sum_up(unsigned pass)
  {
    constexpr unsigned k_own = k_digits / k_lanes;
    auto* const starts = counts_.starts[pass] + lane_index() * k_own;
    tile_count counts[k_own];
    tile_count sum = {0};
#pragma unroll
    for (unsigned i = 0; i < k_own; ++i) {
      counts[i].value = load_relaxed(starts + i);
      sum.value += counts[i].value;
    }
    auto const all =
        scan_lanes(sum, [](tile_count a, tile_count b) { return tile_count{a.value + b.value}; });
    auto before = all.value - sum.value;
#pragma unroll
    for (unsigned i = 0; i < k_own; ++i) {
      starts[i] = before;
      before += counts[i].value;
    }
  }

  storage& shared_;
  Element const* in_;
  std::size_t n_;
  unsigned passes_;
  radix_counts& counts_;
  Key key_;
};

}  // namespace fatlink_algorithms
