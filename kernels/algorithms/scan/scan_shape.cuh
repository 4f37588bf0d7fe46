// SPDX-License-Identifier: Apache-2.0
// The shape of the tiles of scan_N, measured on an H200; the plans state it, too.
#pragma once

#include "scan_tiles.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_scan_threads = 512;
constexpr unsigned k_scan_blocks = 2;  // of a multiprocessor

/// Rows of a thread: of elements of less than 4 bytes, each of which needs a register, fewer.
constexpr unsigned scan_rows(unsigned bytes)
{
  if (bytes == 1) return 2;
  return bytes == 2 || bytes == 32 ? 3 : 6;
}

template <bool Exclusive>
using scan_shape = scan_settings<k_scan_threads, scan_rows(FATLINK_ELEMENT_BYTES), Exclusive, true,
                                 cache_use::stream>;

}  // namespace fatlink_algorithms
