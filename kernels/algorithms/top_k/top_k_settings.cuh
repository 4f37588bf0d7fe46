// SPDX-License-Identifier: Apache-2.0
// Threads and elements of the kernels of top_k_N; the plan states the same
// numbers. The kernels that sort the result have the settings of radix_sort_N.
#pragma once

#include <type_traits>

namespace fatlink_algorithms {

/// Bits of a digit of the selection: a key of 32 bits has three digits.
constexpr unsigned k_select_bits = 11;

/// The block that samples the array, except if keys have few values, of which a limit excludes too
/// few elements: elements of a thread. A limit is used if at most this part of the sample is up to
/// it: 3/4 of k_copied_part.
constexpr bool k_has_sample = FATLINK_ELEMENT_BYTES >= 4;
constexpr unsigned k_sample_threads = 1024;
constexpr unsigned k_sample_items = FATLINK_ELEMENT_BYTES == 32   ? 2
                                    : FATLINK_ELEMENT_BYTES == 16 ? 4
                                                                  : 8;
constexpr unsigned k_limited_part = 42;

/// The launch that counts the first digits.
constexpr unsigned k_first_threads = 512;
constexpr unsigned k_first_rows = FATLINK_ELEMENT_BYTES == 1 ? 1 : 2;

/// The launches that select: threads of a block, rows of a thread (16 bytes each, or an element of
/// 32 bytes), and blocks of a multiprocessor, which bound the registers; one of compute capability
/// 7.5 runs 1,024 threads.
constexpr unsigned k_step_threads = 256;
constexpr unsigned k_step_rows = FATLINK_ELEMENT_BYTES < 4 ? 2 * FATLINK_ELEMENT_BYTES : 4;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr unsigned k_step_blocks = 4;
#else
constexpr unsigned k_step_blocks = FATLINK_ELEMENT_BYTES < 4    ? 4
                                   : FATLINK_ELEMENT_BYTES == 4 ? 6
                                                                : 5;
#endif

/// Candidates are copied to a buffer if they are at most this part of the array that contains them.
/// Otherwise the next step reads that array again.
constexpr unsigned k_copied_part = 32;

/// If k is at most this number of elements for each thread of top_k_tile, the selection ends as
/// soon as the result and the candidates are at most that many. The tile is sorted with fewer
/// registers.
constexpr unsigned k_few_items = 3;

/// Keys of elements of at most 4 bytes have at most 32 bits.
using key_word = std::conditional_t<FATLINK_ELEMENT_BYTES <= 4, unsigned, unsigned long long>;

}  // namespace fatlink_algorithms
