// SPDX-License-Identifier: Apache-2.0
// Threads and elements of the kernels of radix_sort_N and radix_sort_pairs_N; the plan states the
// same numbers. They were the fastest of those measured with 2^28 elements on an H200.
#pragma once

#include "count_digits.cuh"
#include "digit_pass.cuh"
#include "sort_one_tile.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_count_threads = 512;
constexpr unsigned k_count_rows = FATLINK_ELEMENT_BYTES == 1 ? 1 : 2;
/// Passes of the longest key, which has the bytes of the element, but at most 8.
constexpr unsigned k_passes =
    FATLINK_ELEMENT_BYTES < k_most_passes ? FATLINK_ELEMENT_BYTES : k_most_passes;

/// Threads of a block of a pass, and elements of a thread. A tile of keys, or of larger values,
/// fits in 48 KiB of shared memory; two blocks fit on a multiprocessor.
struct radix_shape {
  unsigned threads;
  unsigned items;
};
/// Shorter arrays have tiles of about a third of the size, so that more multiprocessors get a tile.
constexpr std::size_t k_short_size = std::size_t{1} << 19U;

constexpr radix_shape radix_shape_of(unsigned key_bytes, unsigned value_bytes)
{
  auto const bytes = key_bytes > value_bytes ? key_bytes : value_bytes;
  return {384, bytes <= 4 ? 22U : bytes == 8 ? 15U : bytes == 16 ? 7U : 3U};
}

struct key_hook {
  void const* state;
  __device__ __forceinline__ unsigned long long operator()(fatlink_element const& x) const
  {
    return key(x, state);
  }
};

using digit_counting =
    digit_counter<fatlink_element, key_hook, k_count_threads, k_count_rows, k_passes>;

}  // namespace fatlink_algorithms
