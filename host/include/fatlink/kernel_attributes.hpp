// SPDX-License-Identifier: Apache-2.0
// The resources of a kernel, and its occupancy on a device.
// Units: bytes.
// Threads: value types; objects share no state.
#pragma once

#include <cstddef>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Resources of a kernel, as the device compiled it.
struct kernel_attributes {
  /// Registers of each thread; 0 on the reference device, which has no register file.
  unsigned registers = 0;
  /// Shared memory of each block that the kernel declares with a size.
  std::size_t static_shared_bytes = 0;
  /// Local memory of each thread. On the reference device without the local memory of called
  /// functions.
  std::size_t local_bytes = 0;
  /// Constant memory that the image declares.
  std::size_t constant_bytes = 0;
  /// The maximum number of threads in a block. It is below the device's limit if the kernel has
  /// __launch_bounds__, or needs many registers (not on the reference device).
  unsigned max_threads_per_block = 0;
  /// The maximum dynamic shared memory of a launch: device_info::max_shared_bytes_per_block minus
  /// the static shared memory.
  std::size_t max_dynamic_shared_bytes = 0;
};

/// The launch shape with the highest occupancy.
struct block_size_suggestion {
  unsigned block_threads = 0;  ///< threads of each block
  unsigned grid_blocks = 0;    ///< the fewest blocks that fill the device
};

}  // namespace fatlink
