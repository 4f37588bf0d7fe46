// SPDX-License-Identifier: Apache-2.0
// The shapes of the tiles of reduce_by_key_N, scan_by_key_N, and of both with load, which their
// plans repeat. The fastest on an H200 of those that were measured. Smaller tiles are for few
// elements, where large ones would leave multiprocessors idle.
#pragma once

#include "fold_runs.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_run_threads = 256;
constexpr std::size_t k_short_size = std::size_t{1} << 22;  // arrays with fewer elements are short

/// Rows of a thread, and blocks of a multiprocessor.
struct run_shape {
  unsigned rows;
  unsigned short_rows;
  unsigned blocks;
};

constexpr run_shape run_shape_of(unsigned bytes, bool is_scan)
{
  if (bytes <= 2) return {2 * bytes, bytes, is_scan ? 3U : 4U};
  if (bytes == 4) return {is_scan ? 5U : 4U, 2, is_scan ? 4U : 5U};
  if (bytes == 8) return {8, 4, 3};
  return {4, 4, 3};
}

constexpr bool k_is_scan =
#ifdef FATLINK_RUN_SCAN
    true;
#else
    false;
#endif
constexpr auto k_shape = run_shape_of(FATLINK_ELEMENT_BYTES, k_is_scan);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr unsigned k_run_blocks =
    k_shape.blocks < 4 ? k_shape.blocks : 4;  // sm_75 runs 1,024 threads
#else
constexpr unsigned k_run_blocks = k_shape.blocks;
#endif

constexpr bool k_has_short = k_shape.short_rows != k_shape.rows;

template <unsigned Rows, typename Source>
using folder = run_folder<fatlink_element, combine_hook, run_settings<k_run_threads, Rows>, Source>;

/// Passes a run_folder of the block's tile to `write`.
template <typename Source, typename Write>
__device__ __forceinline__ void fold_tile(Source in, key_hooks keys, std::size_t n,
                                          slot<run_fold<fatlink_element>>* slots, unsigned* ticket,
                                          Write write)
{
  using short_folder = folder<k_shape.short_rows, Source>;
  using long_folder = folder<k_shape.rows, Source>;
  __shared__ union {
    typename short_folder::storage few;
    typename long_folder::storage many;
  } shared;
  if (k_has_short && n < k_short_size)
    write(short_folder(shared.few, in, keys, n, slots, ticket, combine_hook{}));
  else
    write(long_folder(shared.many, in, keys, n, slots, ticket, combine_hook{}));
}

}  // namespace fatlink_algorithms
