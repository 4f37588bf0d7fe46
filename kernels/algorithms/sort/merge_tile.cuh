// SPDX-License-Identifier: Apache-2.0
// Merges two sorted arrays, for a pass of a merge sort a pair of runs: each block merges one tile.
// The tile's keys lie in shared memory, where each thread finds the order of its part as places of
// 16 bits; the keys and their values are then written in this order, a warp's part by the warp.
// Values are read only then: those of neighboring places lie side by side in one or two parts of
// the array. If KeepsKeys, each thread merges its part to registers instead, and the merged keys
// replace the tile in shared memory.
#pragma once

#include <cstddef>

#include "../detail/key_array.cuh"
#include "../detail/overlap.cuh"
#include "merge_path.cuh"

namespace fatlink_algorithms {

/// Two sorted arrays.
template <typename Key, typename Value>
struct sorted_pair {
  key_array<Key const, Value const> a;
  std::size_t a_size;
  key_array<Key const, Value const> b;
  std::size_t b_size;
};

template <typename Key, typename Value, typename Less, unsigned Threads, unsigned Items,
          bool KeepsKeys = false>
class tile_merger {
  static constexpr unsigned k_size = Threads * Items;
  static constexpr unsigned k_warp_size = k_lanes * Items;  // elements of a warp
  static constexpr unsigned k_value_batch =
      Items <= 9 ? Items : (Items + 1) / 2;  // loads at a time
  static constexpr bool k_has_values = !is_no_value<Value>;
  static_assert(!(KeepsKeys && k_has_values), "values need the places of the keys");
  static_assert(k_size < 0x10000, "places in a tile have 16 bits");

 public:
  static constexpr unsigned tile_size = k_size;

  struct storage {
    alignas(16) Key keys[k_size + 1];  // one more, which is read, and not used
    unsigned short places[KeepsKeys ? 1 : k_size];
    std::size_t cuts[2];
  };

  /// @param out    where the tile is written to
  /// @param place  of the tile's first element among the merged ones
  __device__ __forceinline__ tile_merger(storage& shared, sorted_pair<Key, Value> in,
                                         key_array<Key, Value> out, std::size_t place, Less less)
      : shared_(shared), in_(in), out_(out), less_(less), place_(place), size_(size_at(place, in))
  {
  }

  /// Merges the tile of this block. `cuts` are those of find_cuts, or null: then two warps of the
  /// block find them.
  __device__ __forceinline__ void merge(std::size_t const* cuts)
  {
    auto a_begin = std::size_t{0};
    auto a_end = in_.a_size;
    if (cuts == nullptr) {
      find_own_cuts();
      a_begin = shared_.cuts[0];
      a_end = shared_.cuts[1];
    } else {
      a_begin = cuts[blockIdx.x];
      if (place_ + size_ != in_.a_size + in_.b_size) a_end = cuts[blockIdx.x + 1];
    }
    merge_part(a_begin, a_end);
  }

 private:
  __device__ static unsigned size_at(std::size_t place, sorted_pair<Key, Value> const& in)
  {
    auto const rest = in.a_size + in.b_size - place;
    return rest < k_size ? static_cast<unsigned>(rest) : k_size;
  }

  __device__ __forceinline__ void find_own_cuts()
  {
    auto const warp = warp_index();
    if (warp < 2) {
      auto const cut = merge_path_by_warp(in_.a.keys, in_.a_size, in_.b.keys, in_.b_size,
                                          place_ + warp * size_, less_);
      if (lane_index() == 0) shared_.cuts[warp] = cut;
    }
    __syncthreads();
  }

  /// The tile consists of the elements a_begin to a_end - 1 of a, and of those of b that follow the
  /// ones before the tile.
  __device__ __forceinline__ void merge_part(std::size_t a_begin, std::size_t a_end)
  {
    // Between 0 and the size of the tile, unless `less` is no order: then nothing else is certain.
    if (a_end < a_begin) a_end = a_begin;
    a_size_ = a_end - a_begin < size_ ? static_cast<unsigned>(a_end - a_begin) : size_;
    a_place_ = a_begin;
    b_place_ = place_ - a_begin - a_size_;
    if (size_ == k_size) {
      load();
      __syncthreads();
      start_next_launch();
      merge();
      __syncwarp();
      store();
    } else {
      load_partial();
      __syncthreads();
      merge_partial();
      if constexpr (KeepsKeys) return;
      __syncthreads();
      store_partial();
    }
  }

  /// Where the element lies in `a` or `b` that lies at `k` in shared memory: first those of a, then
  /// those of b.
  template <typename T>
  __device__ __forceinline__ T const* source(T const* a, T const* b, unsigned k) const
  {
    return (k < a_size_ ? a + a_place_ : b + b_place_) + k;
  }

  __device__ __forceinline__ void load()
  {
    auto const* const a = in_.a.keys + a_place_ + threadIdx.x;
    auto const* const b = in_.b.keys + b_place_ + threadIdx.x;
    Key keys[Items];
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      keys[item] = (item * Threads + threadIdx.x < a_size_ ? a : b)[item * Threads];
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      shared_.keys[item * Threads + threadIdx.x] = keys[item];
    if (threadIdx.x == Threads - 1) shared_.keys[k_size] = keys[Items - 1];
  }

  __device__ __forceinline__ unsigned find_first(unsigned diagonal) const
  {
    return merge_path(shared_.keys, a_size_, shared_.keys + a_size_, size_ - a_size_, diagonal,
                      less_);
  }

  /// Merges this thread's part: writes the keys or their places.
  __device__ __forceinline__ void merge()
  {
    Key merged[KeepsKeys ? Items : 1];
    auto const diagonal = threadIdx.x * Items;
    auto a = find_first(diagonal);
    auto b = a_size_ + diagonal - a;
    Key a_key = shared_.keys[a];
    Key b_key = shared_.keys[b];
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      auto const is_less = less_(b_key, a_key);
      auto const takes_b = b < k_size && (a >= a_size_ || is_less);
      auto const place = takes_b ? b : a;
      if constexpr (KeepsKeys)
        merged[item] = takes_b ? b_key : a_key;
      else
        shared_.places[diagonal + item] = static_cast<unsigned short>(place);
      Key const next = shared_.keys[place + 1];
      a_key = takes_b ? a_key : next;
      b_key = takes_b ? next : b_key;
      a = takes_b ? a : place + 1;
      b = takes_b ? place + 1 : b;
    }
    if constexpr (!KeepsKeys) return;
    __syncthreads();  // others may still read the tile
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      shared_.keys[diagonal + item] = merged[KeepsKeys ? item : 0];
  }

  /// Writes the part of this warp.
  __device__ __forceinline__ void store() const
  {
    auto const begin = warp_index() * k_warp_size + lane_index();
    auto* const keys = out_.keys + begin;
#pragma unroll
    for (unsigned k = 0; k < k_warp_size; k += k_lanes)
      keys[k] = shared_.keys[KeepsKeys ? begin + k : shared_.places[begin + k]];
    if constexpr (k_has_values) store_values(shared_.places + begin, out_.values + begin);
  }

  __device__ __forceinline__ void store_values(unsigned short const* places, Value* values) const
  {
#pragma unroll
    for (unsigned first = 0; first < Items; first += k_value_batch) {
      Value copies[k_value_batch];
#pragma unroll
      for (unsigned item = first; item < first + k_value_batch && item < Items; ++item)
        copies[item - first] = *source(in_.a.values, in_.b.values, places[item * k_lanes]);
#pragma unroll
      for (unsigned item = first; item < first + k_value_batch && item < Items; ++item)
        values[item * k_lanes] = copies[item - first];
    }
  }

  // ---- the last tile, which has less than k_size elements

  __device__ void load_partial()
  {
#pragma unroll 1
    for (auto k = threadIdx.x; k < size_; k += Threads)
      shared_.keys[k] = *source(in_.a.keys, in_.b.keys, k);
  }

  __device__ void merge_partial()
  {
    auto const begin = threadIdx.x * Items;
    if (begin >= size_) return;
    auto const end = begin + Items < size_ ? begin + Items : size_;
    auto a = find_first(begin);
    auto b = a_size_ + begin - a;
#pragma unroll 1
    for (auto k = begin; k < end; ++k) {
      auto const takes_b = b < size_ && (a >= a_size_ || less_(shared_.keys[b], shared_.keys[a]));
      auto const place = takes_b ? b++ : a++;
      if constexpr (KeepsKeys)
        out_.keys[k] = shared_.keys[place];
      else
        shared_.places[k] = static_cast<unsigned short>(place);
    }
  }

  __device__ void store_partial() const
  {
#pragma unroll 1
    for (auto k = threadIdx.x; k < size_; k += Threads) {
      auto const place = shared_.places[k];
      out_.keys[k] = shared_.keys[place];
      if constexpr (k_has_values) out_.values[k] = *source(in_.a.values, in_.b.values, place);
    }
  }

  storage& shared_;
  sorted_pair<Key, Value> in_;
  key_array<Key, Value> out_;
  Less less_;
  std::size_t place_;    // of the tile among the merged elements
  unsigned size_;        // of the tile
  unsigned a_size_ = 0;  // elements of the tile that are of a
  // An element of the tile lies at k + a_place_ in a, or at k + b_place_ (modulo 2^64) in b.
  std::size_t a_place_ = 0;
  std::size_t b_place_ = 0;
};

}  // namespace fatlink_algorithms
