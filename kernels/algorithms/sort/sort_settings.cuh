// SPDX-License-Identifier: Apache-2.0
// Threads and elements of the kernels of sort_N and sort_pairs_N; the plan states the same numbers.
#pragma once

#include "../detail/less_hook.cuh"
#include "merge_tile.cuh"
#include "sort_tile.cuh"

namespace fatlink_algorithms {

inline constexpr unsigned k_threads = 256;
inline constexpr unsigned k_cut_threads = 128;
/// Elements of a thread: odd, because then threads read and write different banks of shared memory.
inline constexpr unsigned k_items = FATLINK_ELEMENT_BYTES <= 4    ? 17
                                    : FATLINK_ELEMENT_BYTES == 8  ? 11
                                    : FATLINK_ELEMENT_BYTES == 16 ? 5
                                                                  : 3;
/// Blocks on a multiprocessor, which bound the registers.
inline constexpr unsigned k_sort_blocks = FATLINK_ELEMENT_BYTES <= 8 ? 4 : 2;
inline constexpr unsigned k_merge_blocks = FATLINK_ELEMENT_BYTES <= 8 ? 6 : 4;

template <typename Value>
using sorter = tile_sorter<fatlink_element, Value, less_hook, k_threads, k_items>;
template <typename Value>
using merger = tile_merger<fatlink_element, Value, less_hook, k_threads, k_items>;

/// Merges the block's tile of a pair of runs of `in`; `shift` as for run_pair, `cuts` as for merge.
template <typename Value>
__device__ __forceinline__ void merge_runs(typename merger<Value>::storage& shared,
                                           key_array<fatlink_element const, Value const> in,
                                           key_array<fatlink_element, Value> out,
                                           std::size_t const* cuts, std::size_t n, unsigned shift)
{
  auto const place = std::size_t{blockIdx.x} * merger<Value>::tile_size;
  run_pair const runs(blockIdx.x, merger<Value>::tile_size, shift, n);
  merger<Value>(shared,
                {in.from(runs.begin), runs.first_size(), in.from(runs.middle), runs.second_size()},
                out.from(place), place - runs.begin, less_hook())
      .merge(cuts);
}

}  // namespace fatlink_algorithms
