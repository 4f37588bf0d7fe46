// SPDX-License-Identifier: Apache-2.0
// What a kernel needs and how much of it a device can run. Units: bytes. Threads: values.
#pragma once

#include <cstddef>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Resources of a kernel, as the device compiled it.
struct kernel_attributes {
  /// Registers of each thread. The reference device has no register file: 0.
  unsigned registers = 0;
  /// Shared memory of each block that the kernel declares with a size.
  std::size_t static_shared_bytes = 0;
  /// Local memory of each thread. On the reference device that of the kernel itself, without the
  /// functions that it calls.
  std::size_t local_bytes = 0;
  /// Constant memory that the image declares.
  std::size_t constant_bytes = 0;
  /// The most threads that a block of a launch can have: fewer than the device's limit where the
  /// kernel needs many registers (not on the reference device) or states __launch_bounds__.
  unsigned max_threads_per_block = 0;
  /// The most dynamic shared memory that a launch can ask for: what the device has for one block
  /// (device_info::max_shared_bytes_per_block) without the static shared memory.
  std::size_t max_dynamic_shared_bytes = 0;
};

/// The launch shape with the highest occupancy.
struct block_size_suggestion {
  unsigned block_threads = 0;  ///< threads of each block
  unsigned grid_blocks = 0;    ///< the fewest blocks that fill the device
};

}  // namespace fatlink
