// SPDX-License-Identifier: Apache-2.0
// Sorts an array of at most one tile by all digits, in one block.
#pragma once

#include "rank_tile.cuh"

namespace fatlink_algorithms {

template <typename Element, typename Value, unsigned Threads, unsigned Items>
class one_tile {
  using ranker = tile_ranker<Threads, Items>;
  static constexpr bool k_has_values = !is_no_value<Value>;

 public:
  union storage {
    typename ranker::storage ranks;
    alignas(16) Element elements[ranker::tile_size];
    alignas(16) Value values[ranker::tile_size];
  };

  __device__ one_tile(storage& shared, std::size_t n)
      : shared_(shared), ranker_(shared.ranks, static_cast<unsigned>(n))
  {
  }

  template <typename Key>
  __device__ __forceinline__ void sort(key_array<Element const, Value const> in,
                                       key_array<Element, Value> out, unsigned passes,
                                       Key const& key)
  {
    sort_first(in, out, ranker_.size(), passes, key);
  }

  /// Stores only the first `count` elements of the sorted array.
  /// `in`: a struct with `keys` and `values`, pointers or objects with operator[]
  template <typename Source, typename Key>
  __device__ __forceinline__ void sort_first(Source in, key_array<Element, Value> out,
                                             unsigned count, unsigned passes, Key const& key)
  {
    Element items[Items];
    Value values[Items];
    ranker_.load(items, in.keys);
    if constexpr (k_has_values) ranker_.load(values, in.values);
#pragma unroll 1
    for (unsigned pass = 0; pass < passes; ++pass) {
      unsigned places[Items];
      ranker_.find_digits(items, key, pass, places);
      ranker_.count_before(ranker_.count(places));
      ranker_.rank(places);
      reorder(items, shared_.elements, places);
      if constexpr (k_has_values) reorder(values, shared_.values, places);
      __syncthreads();
    }
    store(items, out.keys, count);
    if constexpr (k_has_values) store(values, out.values, count);
  }

 private:
  /// Moves the items to their places through shared memory.
  template <typename Item>
  __device__ __forceinline__ void reorder(Item (&items)[Items], Item* shared,
                                          unsigned const (&places)[Items]) const
  {
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) shared[places[i]] = items[i];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) items[i] = shared[ranker::index_of(i)];
  }

  template <typename Item>
  __device__ __forceinline__ void store(Item const (&items)[Items], Item* out, unsigned count) const
  {
#pragma unroll
    for (unsigned i = 0; i < Items; ++i)
      if (ranker::index_of(i) < count) out[ranker::index_of(i)] = items[i];
  }

  storage& shared_;
  ranker ranker_;
};

}  // namespace fatlink_algorithms
