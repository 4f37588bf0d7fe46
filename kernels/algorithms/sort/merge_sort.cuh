// SPDX-License-Identifier: Apache-2.0
// A stable merge sort: blocks sort tiles, then passes merge pairs of runs of sorted tiles, from one
// array to another and back. Values, if there are any, move with their keys.
#pragma once

#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_store.cuh>

#include <cstddef>

#include "merge_path.cuh"

namespace fatlink_algorithms {

/// The type of values where only keys are sorted.
using no_value = cub::NullType;

template <typename Key, typename Value>
struct key_array {
  Key* keys;
  Value* values;  // null if Value is no_value
};

template <unsigned Threads, unsigned Items>
struct sort_settings {
  static constexpr unsigned threads = Threads;  // of a block: a power of two
  static constexpr unsigned items = Items;      // of a thread; odd ones have fewer bank conflicts
  static constexpr unsigned tile_size = Threads * Items;
};

// ---- tiles

template <typename Key, typename Value, typename Less, typename Settings>
class tile_sorter {
  static constexpr unsigned k_threads = Settings::threads;
  static constexpr unsigned k_items = Settings::items;
  static constexpr bool k_has_values = !cuda::std::is_same_v<Value, no_value>;
  template <typename T>
  using load = cub::BlockLoad<T, k_threads, k_items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  template <typename T>
  using store = cub::BlockStore<T, k_threads, k_items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using sort_items = cub::BlockMergeSort<Key, k_threads, k_items, Value>;

 public:
  union storage {
    typename load<Key>::TempStorage load_keys;
    typename load<Value>::TempStorage load_values;
    typename sort_items::TempStorage sort;
    typename store<Key>::TempStorage store_keys;
    typename store<Value>::TempStorage store_values;
  };

  /// Sorts the tile of this block of `in`, which has n > 0 elements, into `out`.
  __device__ __forceinline__ static void sort(storage& shared, key_array<Key const, Value const> in,
                                              key_array<Key, Value> out, std::size_t n, Less less)
  {
    auto const begin = std::size_t{blockIdx.x} * Settings::tile_size;
    Key keys[k_items];
    Value values[k_items];
    if (n - begin >= Settings::tile_size) {
      load<Key>(shared.load_keys).Load(in.keys + begin, keys);
      __syncthreads();
      if constexpr (k_has_values) {
        load<Value>(shared.load_values).Load(in.values + begin, values);
        __syncthreads();
      }
      sort_items(shared.sort).StableSort(keys, values, less);
      __syncthreads();
      store<Key>(shared.store_keys).Store(out.keys + begin, keys);
      if constexpr (k_has_values) {
        __syncthreads();
        store<Value>(shared.store_values).Store(out.values + begin, values);
      }
    } else {
      sort_part(shared, in, out, begin, static_cast<int>(n - begin), less);
    }
  }

 private:
  /// The last tile, of `size` elements.
  __device__ static void sort_part(storage& shared, key_array<Key const, Value const> in,
                                   key_array<Key, Value> out, std::size_t begin, int size,
                                   Less less)
  {
    Key keys[k_items];
    Value values[k_items];
    load<Key>(shared.load_keys).Load(in.keys + begin, keys, size, in.keys[begin]);
    __syncthreads();
    if constexpr (k_has_values) {
      load<Value>(shared.load_values).Load(in.values + begin, values, size, in.values[begin]);
      __syncthreads();
    }
    sort_items(shared.sort).StableSort(keys, values, less, size, keys[0]);
    __syncthreads();
    store<Key>(shared.store_keys).Store(out.keys + begin, keys, size);
    if constexpr (k_has_values) {
      __syncthreads();
      store<Value>(shared.store_values).Store(out.values + begin, values, size);
    }
  }
};

// ---- merges

/// The two runs of `run` elements that the tile beginning at `place` is merged from; the last ones
/// of an array of n elements may be shorter or empty.
struct run_pair {
  std::size_t begin;   // of the first run
  std::size_t middle;  // end of the first run, begin of the second one
  std::size_t end;

  __device__ run_pair(std::size_t place, std::size_t run, std::size_t n)
      : begin(place / (2 * run) * (2 * run)),
        middle(begin + run < n ? begin + run : n),
        end(begin + 2 * run < n ? begin + 2 * run : n)
  {
  }
  __device__ std::size_t first_size() const { return middle - begin; }
  __device__ std::size_t second_size() const { return end - middle; }
};

/// cuts[t]: elements of the first run among those merged before tile t of its pair, for each tile
/// of `tile_size` elements; `run` is a multiple of it. A thread for each tile.
template <typename Key, typename Less>
__device__ __forceinline__ void find_cuts(Key const* keys, std::size_t* cuts, std::size_t n,
                                          std::size_t run, std::size_t tile_size, Less less)
{
  auto const tile = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const place = tile * tile_size;
  if (place >= n) return;
  run_pair const runs(place, run, n);
  cuts[tile] = merge_path(keys + runs.begin, runs.first_size(), keys + runs.middle,
                          runs.second_size(), place - runs.begin, less);
}

template <typename Key, typename Value, typename Less, typename Settings>
class tile_merger {
  static constexpr unsigned k_threads = Settings::threads;
  static constexpr unsigned k_items = Settings::items;
  static constexpr unsigned k_size = Settings::tile_size;
  static constexpr bool k_has_values = !cuda::std::is_same_v<Value, no_value>;
  static_assert(k_size <= 0x10000, "places in a tile have 16 bits");

 public:
  struct storage {
    alignas(16) Key keys[k_size];
    unsigned short places[k_has_values ? k_size : 1];
    std::size_t cuts[2];
  };

  __device__ tile_merger(storage& shared, key_array<Key const, Value const> in,
                         key_array<Key, Value> out, std::size_t n, std::size_t run, Less less)
      : shared_(shared),
        in_(in),
        out_(out),
        less_(less),
        place_(std::size_t{blockIdx.x} * k_size),
        size_(n - place_ < k_size ? static_cast<unsigned>(n - place_) : k_size),
        runs_(place_, run, n)
  {
  }

  /// Merges the tile of this block. `cuts` are those of find_cuts; if null, the block finds its
  /// own.
  __device__ __forceinline__ void merge(std::size_t const* cuts)
  {
    if (cuts == nullptr)
      find_own_cuts();
    else
      read_cuts(cuts);
    auto const a_size = static_cast<unsigned>(a_end_ - a_begin_);
    load(a_size);
    __syncthreads();
    Key keys[k_items];
    unsigned short places[k_items];
    merge_items(keys, places, a_size);
    __syncthreads();
    store(keys, places, a_size);
  }

 private:
  __device__ __forceinline__ void read_cuts(std::size_t const* cuts)
  {
    a_begin_ = cuts[blockIdx.x];
    auto const is_last = place_ + size_ == runs_.end;
    a_end_ = is_last ? runs_.first_size() : cuts[blockIdx.x + 1];
  }

  __device__ __forceinline__ void find_own_cuts()
  {
    auto const warp = warp_index();
    if (warp < 2) {
      auto const cut =
          merge_path_by_warp(in_.keys + runs_.begin, runs_.first_size(), in_.keys + runs_.middle,
                             runs_.second_size(), place_ - runs_.begin + warp * size_, less_);
      if (lane_index() == 0) shared_.cuts[warp] = cut;
    }
    __syncthreads();
    a_begin_ = shared_.cuts[0];
    a_end_ = shared_.cuts[1];
  }

  /// Where the element of the tile at `k` before the merge lies in the array: first those of the
  /// first run, then those of the second one.
  __device__ __forceinline__ std::size_t source(unsigned k, unsigned a_size) const
  {
    auto const b_begin = runs_.middle + (place_ - runs_.begin - a_begin_);
    return k < a_size ? runs_.begin + a_begin_ + k : b_begin + (k - a_size);
  }

  __device__ __forceinline__ void load(unsigned a_size)
  {
    Key keys[k_items];
#pragma unroll
    for (unsigned item = 0; item < k_items; ++item) {
      auto const k = item * k_threads + threadIdx.x;
      if (k < size_) keys[item] = in_.keys[source(k, a_size)];
    }
#pragma unroll
    for (unsigned item = 0; item < k_items; ++item) {
      auto const k = item * k_threads + threadIdx.x;
      if (k < size_) shared_.keys[k] = keys[item];
    }
  }

  /// The merged keys of this thread, and their places before the merge.
  __device__ __forceinline__ void merge_items(Key (&keys)[k_items],
                                              unsigned short (&places)[k_items],
                                              unsigned a_size) const
  {
    auto const diagonal = threadIdx.x * k_items < size_ ? threadIdx.x * k_items : size_;
    auto a =
        merge_path(shared_.keys, a_size, shared_.keys + a_size, size_ - a_size, diagonal, less_);
    auto b = a_size + diagonal - a;
    auto has_a = a < a_size;
    auto has_b = b < size_;
    Key a_key = shared_.keys[has_a ? a : 0];
    Key b_key = shared_.keys[has_b ? b : 0];
#pragma unroll
    for (unsigned item = 0; item < k_items; ++item) {
      auto const takes_b = has_b && (!has_a || less_(b_key, a_key));
      keys[item] = takes_b ? b_key : a_key;
      places[item] = static_cast<unsigned short>(takes_b ? b : a);
      if (takes_b) {
        has_b = ++b < size_;
        if (has_b) b_key = shared_.keys[b];
      } else {
        has_a = ++a < a_size;
        if (has_a) a_key = shared_.keys[a];
      }
    }
  }

  __device__ __forceinline__ void store(Key const (&keys)[k_items],
                                        unsigned short const (&places)[k_items], unsigned a_size)
  {
#pragma unroll
    for (unsigned item = 0; item < k_items; ++item) {
      shared_.keys[threadIdx.x * k_items + item] = keys[item];
      if (k_has_values) shared_.places[threadIdx.x * k_items + item] = places[item];
    }
    __syncthreads();
#pragma unroll
    for (unsigned item = 0; item < k_items; ++item) {
      auto const k = item * k_threads + threadIdx.x;
      if (k >= size_) break;
      out_.keys[place_ + k] = shared_.keys[k];
      if constexpr (k_has_values)
        out_.values[place_ + k] = in_.values[source(shared_.places[k], a_size)];
    }
  }

  storage& shared_;
  key_array<Key const, Value const> in_;
  key_array<Key, Value> out_;
  Less less_;
  std::size_t place_;  // of the tile in the array
  unsigned size_;      // of the tile
  run_pair runs_;
  std::size_t a_begin_ = 0;  // the tile's part of the first run, counted from its begin
  std::size_t a_end_ = 0;
};

}  // namespace fatlink_algorithms
