// SPDX-License-Identifier: Apache-2.0
// Reads the array to count the first digits.
#pragma once

#include "../detail/rows.cuh"
#include "choose_digit.cuh"

namespace fatlink_algorithms {

template <typename Element, typename Key, unsigned Threads, unsigned Rows>
class first_digit_counter {
  using chooser = digit_chooser<Threads>;
  static constexpr unsigned k_tile = tile_elements<Element, Rows>(Threads);

 public:
  using storage = typename chooser::storage;

  __device__ first_digit_counter(storage& shared, Element const* in, selection& all,
                                 selection_sizes const& sizes, aligned_key<Key> key)
      : in_(in),
        n_(sizes.n),
        is_counted_(all.steps[1].choice.start.size != 0),
        chooser_(shared, all, 0, sizes),
        key_(key)
  {
  }

  /// Called by all threads of a grid of any size. Does nothing if step 0 has counted.
  __device__ __forceinline__ void count()
  {
    if (is_counted_) return;
    chooser_.clear();
    __syncthreads();
    for (auto begin = std::size_t{blockIdx.x} * k_tile; begin < n_;
         begin += std::size_t{gridDim.x} * k_tile)
      count_tile(begin);
    chooser_.finish({n_, 0, 0, candidates::in_array});
  }

 private:
  __device__ __forceinline__ void count_tile(std::size_t begin)
  {
    auto const rest = n_ - begin;
    auto const size = rest < k_tile ? static_cast<unsigned>(rest) : k_tile;
    rows<Element, Rows> items;
    load_tile(items, in_ + begin, rest, k_tile);
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      auto const first = index_in_tile<Element, Rows>(row);
#pragma unroll
      for (unsigned k = 0; k < k_vector<Element>; ++k)
        if (first + k < size) chooser_.count(key_(items.vectors[row][k]));
    }
  }

  Element const* in_;
  std::size_t n_;
  bool is_counted_;
  chooser chooser_;
  aligned_key<Key> key_;
};

}  // namespace fatlink_algorithms
