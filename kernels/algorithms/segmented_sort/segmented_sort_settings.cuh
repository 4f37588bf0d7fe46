// SPDX-License-Identifier: Apache-2.0
// Threads and elements of the kernels of segmented_sort_N; the plan states the same numbers.
#pragma once

#include "../detail/less_hook.cuh"
#include "merge_segments.cuh"
#include "sort_segments.cuh"

namespace fatlink_algorithms {

inline constexpr unsigned k_threads = 256;
inline constexpr unsigned k_span_threads = 256;  // of segmented_sort_spans
inline constexpr unsigned k_cut_threads = 128;   // of segmented_sort_cuts
/// Elements of a thread: odd, because then threads read and write different banks of shared memory.
inline constexpr unsigned k_items = FATLINK_ELEMENT_BYTES <= 4    ? 17
                                    : FATLINK_ELEMENT_BYTES == 8  ? 11
                                    : FATLINK_ELEMENT_BYTES == 16 ? 5
                                                                  : 3;
/// The most elements by which the end of a tile moves. Segments up to this length need no merge
/// pass, and a tile has this many elements less on average.
inline constexpr unsigned k_slack = FATLINK_ELEMENT_BYTES <= 4    ? 256
                                    : FATLINK_ELEMENT_BYTES == 8  ? 128
                                    : FATLINK_ELEMENT_BYTES == 16 ? 64
                                                                  : 32;
/// Blocks on a multiprocessor, which bound the registers; sm_75 has room for 4.
inline constexpr unsigned k_sort_blocks = FATLINK_ELEMENT_BYTES <= 8 ? 4 : 2;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr unsigned k_merge_blocks = 4;
#else
inline constexpr unsigned k_merge_blocks = FATLINK_ELEMENT_BYTES <= 4   ? 6
                                           : FATLINK_ELEMENT_BYTES == 8 ? 5
                                                                        : 4;
#endif

using tiling = segment_tiling<k_threads * k_items - k_slack, k_slack>;

using sorter = segment_sorter<fatlink_element, less_hook, tiling, k_threads, k_items>;
using merger = segment_merger<fatlink_element, less_hook, tiling, k_threads, k_items>;

}  // namespace fatlink_algorithms
