// SPDX-License-Identifier: Apache-2.0
// The shapes of the tiles of select_N, load_select_N, partition_N and partition3_N; the plans state
// them, too. The fastest on an H200 of those that were measured, at 2^28 elements and not slower
// than CUB at 2^20.
#pragma once

#include "select_tiles.cuh"

namespace fatlink_algorithms {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr unsigned k_large_blocks = 2;  // sm_75 runs 1,024 threads
#else
constexpr unsigned k_large_blocks = 3;
#endif

/// Threads of a block, rows of a thread, and blocks of a multiprocessor.
struct select_shape {
  unsigned threads;
  unsigned rows;
  unsigned blocks;
};

/// Elements of 32 bytes have rows of twice the size.
constexpr select_shape select_shape_of(unsigned bytes, bool is_partition)
{
  if (bytes < 4) return {512, 2 * bytes, k_large_blocks};
  if (is_partition) return {512, bytes == 32 ? 2U : 4U, k_large_blocks};
  return {256, bytes == 32 ? 4U : 8U, 4};
}

constexpr auto k_select = select_shape_of(FATLINK_ELEMENT_BYTES, false);
constexpr auto k_partition = select_shape_of(FATLINK_ELEMENT_BYTES, true);

}  // namespace fatlink_algorithms
