// SPDX-License-Identifier: Apache-2.0
// Threads and elements of the kernels of radix_sort_N and radix_sort_pairs_N; the plan states the
// same numbers. The fastest on an H200 of those that were measured at 2^28 elements.
#pragma once

#include "count_digits.cuh"
#include "digit_pass.cuh"
#include "sort_one_tile.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_count_threads = 512;
constexpr unsigned k_count_rows = FATLINK_ELEMENT_BYTES == 1 ? 1 : 2;
/// Passes of the longest key: elements of up to 8 bytes have no longer keys.
constexpr unsigned k_passes =
    FATLINK_ELEMENT_BYTES < k_most_passes ? FATLINK_ELEMENT_BYTES : k_most_passes;

/// Threads and elements of a thread of a pass. A tile of the larger of key and value fits in 48 KiB
/// of shared memory, and two blocks on a multiprocessor.
struct radix_shape {
  unsigned threads;
  unsigned items;
};
/// Shorter arrays have tiles of a third of the size, so that more multiprocessors have one.
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
