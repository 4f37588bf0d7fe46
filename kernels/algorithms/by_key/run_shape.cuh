// SPDX-License-Identifier: Apache-2.0
// The shapes of the tiles of reduce_by_key_N and scan_by_key_N, which their plans repeat.
#pragma once

#include "fold_runs.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_run_threads = 256;
constexpr unsigned k_run_blocks = 3;  // of a multiprocessor

/// Rows of a thread.
constexpr unsigned run_rows_of(unsigned bytes)
{
  if (bytes <= 2) return bytes;
  return bytes == 8 ? 6 : 4;
}

using tile_folder = run_folder<fatlink_element, combine_hook,
                               run_settings<k_run_threads, run_rows_of(FATLINK_ELEMENT_BYTES)>>;

}  // namespace fatlink_algorithms
