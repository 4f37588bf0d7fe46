// SPDX-License-Identifier: Apache-2.0
// What the kernels of a radix sort share: digits, and the counts that they pass on.
#pragma once

#include <cstddef>

namespace fatlink_algorithms {

constexpr unsigned k_digit_bits = 8;
constexpr unsigned k_digits = 1U << k_digit_bits;
constexpr unsigned k_most_passes = 8;  // of keys of 64 bits

/// Digit `pass` of a key; digit 0 is the least significant one.
__device__ __forceinline__ unsigned digit_of(unsigned long long key, unsigned pass)
{
  return static_cast<unsigned>(key >> pass * k_digit_bits) % k_digits;
}

/// In global memory, zero before a sort.
struct radix_counts {
  unsigned long long starts[k_most_passes][k_digits];  // counts, then their exclusive sums
  unsigned tickets[k_most_passes];                     // tiles that have started, of each pass
  unsigned finished;                                   // blocks that have counted
};

}  // namespace fatlink_algorithms
