// SPDX-License-Identifier: Apache-2.0
// The shape of a launch. Units: blocks, threads, bytes. Threads: values.
#pragma once

#include <cstddef>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A size in up to three dimensions; dimensions that are not stated are 1.
struct extent {
  unsigned x = 1;  ///< in the first dimension
  unsigned y = 1;  ///< in the second dimension
  unsigned z = 1;  ///< in the third dimension
  /// A number converts to an extent in the first dimension.
  constexpr extent(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)
      : x(x_size), y(y_size), z(z_size)
  {
  }
};

/// The grid and the blocks of a launch.
struct launch_shape {
  extent grid = {};           ///< blocks
  extent block = {};          ///< threads of each block
  unsigned shared_bytes = 0;  ///< dynamic shared memory of each block
  /// Whether blocks may start before the kernel before them on the stream has ended: programmatic
  /// dependent launch, on GPUs of compute capability 9.0 and newer; without effect elsewhere. Only
  /// for kernels that execute griddepcontrol.wait before they touch what that kernel writes.
  bool overlap = false;
};

/// A shape with at least one thread for each of `count` elements: ceil(count / block.x) blocks in
/// the first dimension, so that a kernel without a grid-stride loop processes every element, too.
/// The grid has at least 1 block and at most 2^31 - 1; above (2^31 - 1) * block.x elements only a
/// grid-stride loop processes every element.
/// @throws usage_error `block.x` is 0.
launch_shape elementwise_shape(std::size_t count, extent block = 256);

}  // namespace fatlink
