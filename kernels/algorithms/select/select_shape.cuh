// SPDX-License-Identifier: Apache-2.0
// The shape of the tiles of select_N and partition_N, measured on an H200; the plans state it, too.
#pragma once

#include "select_tiles.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_select_threads = 512;
constexpr unsigned k_select_blocks = 3;  // of a multiprocessor

/// Rows of a thread, so that the elements fit its 40 registers.
constexpr unsigned select_rows(unsigned bytes)
{
  if (bytes < 4) return 3;
  return bytes == 32 ? 2 : 4;
}

template <bool Partition>
using select_shape = select_settings<k_select_threads, select_rows(FATLINK_ELEMENT_BYTES),
                                     Partition, true, cache_use::stream>;

}  // namespace fatlink_algorithms
