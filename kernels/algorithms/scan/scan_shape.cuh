// SPDX-License-Identifier: Apache-2.0
// The shape of the tiles of scan_N, measured on an H200; the plans state it, too.
#pragma once

#include "scan_tiles.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_scan_threads = 512;
constexpr unsigned k_scan_blocks = 2;  // of a multiprocessor

/// Rows of a thread, so that the elements fit its 64 registers.
constexpr unsigned scan_rows(unsigned bytes)
{
  switch (bytes) {
    case 1:
    case 32:
      return 2;
    case 2:
      return 3;
    case 16:
      return 4;
    default:
      return 6;
  }
}

template <bool Exclusive>
using scan_shape = scan_settings<k_scan_threads, scan_rows(FATLINK_ELEMENT_BYTES), Exclusive, true,
                                 cache_use::stream>;

}  // namespace fatlink_algorithms
