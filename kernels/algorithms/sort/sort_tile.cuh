// SPDX-License-Identifier: Apache-2.0
// The first step of a merge sort: each block sorts a tile. Values, if there are any, move with their
// keys. Odd numbers of elements of a thread have fewer bank conflicts.
#pragma once

#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_store.cuh>

#include <cstddef>

#include "key_array.cuh"

namespace fatlink_algorithms {

template <typename Key, typename Value, typename Less, unsigned Threads, unsigned Items>
class tile_sorter {
  static constexpr bool k_has_values = !is_no_value<Value>;
  using block_value = cuda::std::conditional_t<k_has_values, Value, cub::NullType>;
  template <typename T>
  using load = cub::BlockLoad<T, Threads, Items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  template <typename T>
  using store = cub::BlockStore<T, Threads, Items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using sort_items = cub::BlockMergeSort<Key, Threads, Items, block_value>;

 public:
  static constexpr unsigned tile_size = Threads * Items;

  union storage {
    typename load<Key>::TempStorage load_keys;
    typename load<block_value>::TempStorage load_values;
    typename sort_items::TempStorage sort;
    typename store<Key>::TempStorage store_keys;
    typename store<block_value>::TempStorage store_values;
  };

  /// Sorts the tile of this block of `in`, which has n > 0 elements, into `out`.
  __device__ __forceinline__ static void sort(storage& shared, key_array<Key const, Value const> in,
                                              key_array<Key, Value> out, std::size_t n, Less less)
  {
    auto const begin = std::size_t{blockIdx.x} * tile_size;
    Key keys[Items];
    block_value values[Items];
    if (n - begin >= tile_size) {
      load<Key>(shared.load_keys).Load(in.keys + begin, keys);
      __syncthreads();
      if constexpr (k_has_values) {
        load<block_value>(shared.load_values).Load(in.values + begin, values);
        __syncthreads();
      }
      sort_items(shared.sort).StableSort(keys, values, less);
      __syncthreads();
      store<Key>(shared.store_keys).Store(out.keys + begin, keys);
      if constexpr (k_has_values) {
        __syncthreads();
        store<block_value>(shared.store_values).Store(out.values + begin, values);
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
    Key keys[Items];
    block_value values[Items];
    load<Key>(shared.load_keys).Load(in.keys + begin, keys, size, in.keys[begin]);
    __syncthreads();
    if constexpr (k_has_values) {
      load<block_value>(shared.load_values).Load(in.values + begin, values, size, in.values[begin]);
      __syncthreads();
    }
    sort_items(shared.sort).StableSort(keys, values, less, size, keys[0]);
    __syncthreads();
    store<Key>(shared.store_keys).Store(out.keys + begin, keys, size);
    if constexpr (k_has_values) {
      __syncthreads();
      store<block_value>(shared.store_values).Store(out.values + begin, values, size);
    }
  }
};

}  // namespace fatlink_algorithms
