// SPDX-License-Identifier: Apache-2.0
// The shape of the tiles of scan_N and exclusive_scan_N; the plans state it, too. The fastest on an
// H200 of those that were measured, at 2^28 elements and not slower than CUB at 2^20.
#pragma once

#include "scan_tiles.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_scan_threads = FATLINK_ELEMENT_BYTES == 32 ? 256 : 512;
constexpr unsigned k_scan_blocks = 2;  // of a multiprocessor

/// Rows of a thread, so that its registers hold the elements, each of less than 4 bytes in one.
constexpr unsigned scan_rows(unsigned bytes, bool is_exclusive)
{
  if (bytes == 1) return 2;
  if (bytes != 4 && bytes != 8) return 4;
  return is_exclusive ? 7 : 8;
}

template <bool Exclusive>
using scan_shape =
    scan_settings<k_scan_threads, scan_rows(FATLINK_ELEMENT_BYTES, Exclusive), Exclusive>;

}  // namespace fatlink_algorithms
