// SPDX-License-Identifier: Apache-2.0
// The first step of a merge sort: each block sorts a tile. Each thread sorts its elements in
// registers, then groups of 2, 4, … threads merge theirs by way of shared memory. Where values move
// with their keys, the places of the keys do, as numbers of 16 bits, and the values follow at the
// end.
#pragma once

#include <cstddef>

#include "../detail/key_array.cuh"
#include "../detail/overlap.cuh"
#include "run_pair.cuh"

namespace fatlink_algorithms {

template <typename Key, typename Value, typename Less, unsigned Threads, unsigned Items>
class tile_sorter {
  static constexpr unsigned k_size = Threads * Items;
  static constexpr unsigned k_warp_size = k_lanes * Items;  // elements of a warp
  static constexpr bool k_has_values = !is_no_value<Value>;
  static_assert(k_size <= 0x10000, "places in a tile have 16 bits");

 public:
  struct storage {
    union {
      alignas(16) Key keys[k_size + Threads / k_lanes];
      Value values[k_has_values ? k_size : 1];
    };
    unsigned short places[k_has_values ? k_size : 1];
  };

  __device__ __forceinline__ tile_sorter(storage& shared, key_array<Key const, Value const> in,
                                         key_array<Key, Value> out, std::size_t n, Less less)
      : shared_(shared),
        in_(in.from(first())),
        out_(out.from(first())),
        size_(n - first() < k_size ? static_cast<unsigned>(n - first()) : k_size),
        less_(less)
  {
  }

  /// Sorts the tile of this block.
  __device__ __forceinline__ void sort()
  {
    load();
    start_next_launch();
    sort_in_thread();
#pragma unroll 1
    for (unsigned threads = 1; threads < Threads; threads *= 2) {
      auto* const keys = part(threads < k_lanes ? warp_index() : 0);
      synchronize(threads);
      share(keys);
      synchronize(threads);
      merge(keys, threads);
    }
    __syncthreads();
    share(part(0));
    __syncwarp();
    store(shared_.keys, out_.keys);
    if constexpr (k_has_values) store_values();
  }

 private:
  __device__ static std::size_t first()
  {
    return std::size_t{blockIdx.x} * k_size;
  }

  /// Waits for the threads that exchange elements in merges of 2 * threads threads.
  __device__ __forceinline__ static void synchronize(unsigned threads)
  {
    if (threads < k_lanes)
      __syncwarp();
    else
      __syncthreads();
  }

  /// Reads the tile by rows of a warp, and takes this thread's elements of it. Elements that a
  /// smaller tile does not have become copies of its largest one, and remain behind all others.
  __device__ __forceinline__ void load()
  {
    auto const begin = warp_index() * k_warp_size + lane_index();
    if (size_ == k_size) {
#pragma unroll
      for (unsigned item = 0; item < Items; ++item) keys_[item] = in_.keys[begin + item * k_lanes];
    } else {
      Key const last = find_largest();
#pragma unroll
      for (unsigned item = 0; item < Items; ++item) {
        auto const k = begin + item * k_lanes;
        keys_[item] = k < size_ ? in_.keys[k] : last;
      }
    }
    auto* const rows = part(warp_index());
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) rows[begin + item * k_lanes] = keys_[item];
    if (lane_index() == 0) rows[begin + k_warp_size] = keys_[0];
    __syncwarp();
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      keys_[item] = rows[threadIdx.x * Items + item];
      if (k_has_values) places_[item] = static_cast<unsigned short>(threadIdx.x * Items + item);
    }
  }

  /// Where the tile lies in shared memory. While warps merge their own elements, there is room for
  /// one more behind those of each: merges read it, and do not use it.
  __device__ __forceinline__ Key* part(unsigned warp)
  {
    return shared_.keys + warp;
  }

  /// An element of a smaller tile after which none of its elements belongs.
  __device__ __forceinline__ Key find_largest()
  {
    if (threadIdx.x < size_) {
      Key largest = in_.keys[threadIdx.x];
#pragma unroll 1
      for (auto k = threadIdx.x + Threads; k < size_; k += Threads)
        if (less_(largest, in_.keys[k])) largest = in_.keys[k];
      shared_.keys[threadIdx.x] = largest;
    }
#pragma unroll 1
    for (auto distance = Threads / 2; distance > 0; distance /= 2) {
      __syncthreads();
      if (threadIdx.x < distance && threadIdx.x + distance < size_ &&
          less_(shared_.keys[threadIdx.x], shared_.keys[threadIdx.x + distance]))
        shared_.keys[threadIdx.x] = shared_.keys[threadIdx.x + distance];
    }
    __syncthreads();
    Key const largest = shared_.keys[0];
    __syncthreads();
    return largest;
  }

  /// Odd-even transposition: only neighbors change places, so equal elements keep their order.
  __device__ __forceinline__ void sort_in_thread()
  {
#pragma unroll 1
    for (unsigned round = 0; round < Items; round += 2) {
      sort_neighbors(0);
      sort_neighbors(1);
    }
  }

  __device__ __forceinline__ void sort_neighbors(unsigned first)
  {
#pragma unroll
    for (unsigned item = first; item + 1 < Items; item += 2)
      if (less_(keys_[item + 1], keys_[item])) {
        swap(keys_[item], keys_[item + 1]);
        if (k_has_values) swap(places_[item], places_[item + 1]);
      }
  }

  template <typename T>
  __device__ __forceinline__ static void swap(T& a, T& b)
  {
    auto const c = a;
    a = b;
    b = c;
  }

  /// Writes this thread's elements to its part of the shared memory.
  __device__ __forceinline__ void share(Key* keys)
  {
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      keys[threadIdx.x * Items + item] = keys_[item];
      if (k_has_values) shared_.places[threadIdx.x * Items + item] = places_[item];
    }
  }

  /// Takes this thread's part of the sorted elements of two groups of `threads` threads.
  __device__ __forceinline__ void merge(Key const* keys, unsigned threads)
  {
    auto const thread = threadIdx.x & (2 * threads - 1);
    auto const size = threads * Items;
    auto const begin = (threadIdx.x - thread) * Items;
    auto const a_end = begin + size;
    auto const b_end = a_end + size;
    auto const diagonal = thread * Items;
    auto a = begin + merge_path(keys + begin, size, keys + a_end, size, diagonal, less_);
    auto b = a_end + begin + diagonal - a;
    Key a_key = keys[a];
    Key b_key = keys[b];
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      auto const is_less = less_(b_key, a_key);
      auto const takes_b = b < b_end && (a >= a_end || is_less);
      auto const place = takes_b ? b : a;
      keys_[item] = takes_b ? b_key : a_key;
      if (k_has_values) places_[item] = shared_.places[place];
      Key const next = keys[place + 1];
      a_key = takes_b ? a_key : next;
      b_key = takes_b ? next : b_key;
      a = takes_b ? a : place + 1;
      b = takes_b ? place + 1 : b;
    }
  }

  /// Writes the part of this warp.
  template <typename T>
  __device__ __forceinline__ void store(T const* from, T* out) const
  {
    auto const begin = warp_index() * k_warp_size + lane_index();
#pragma unroll
    for (unsigned k = 0; k < k_warp_size; k += k_lanes)
      if (begin + k < size_) out[begin + k] = from[begin + k];
  }

  __device__ __forceinline__ void store_values()
  {
    __syncthreads();
    auto const begin = warp_index() * k_warp_size + lane_index();
    Value values[Items];
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      if (begin + item * k_lanes < size_) values[item] = in_.values[begin + item * k_lanes];
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      if (begin + item * k_lanes < size_) shared_.values[begin + item * k_lanes] = values[item];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < k_warp_size; k += k_lanes)
      if (begin + k < size_) out_.values[begin + k] = shared_.values[shared_.places[begin + k]];
  }

  storage& shared_;
  key_array<Key const, Value const> in_;  // from this tile on
  key_array<Key, Value> out_;
  unsigned size_;  // of the tile
  Less less_;
  Key keys_[Items];                                  // of this thread
  unsigned short places_[k_has_values ? Items : 1];  // of the keys before the sort, in the tile
};

}  // namespace fatlink_algorithms
