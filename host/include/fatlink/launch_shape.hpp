// SPDX-License-Identifier: Apache-2.0
// The shape of a launch. Units: blocks, threads, bytes. Threads: value types; objects share no
// state.
#pragma once

#include <cstddef>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A size in up to three dimensions; omitted dimensions are 1.
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
  /// Whether blocks may start before the previous kernel on the stream has ended (programmatic
  /// dependent launch). It has an effect on GPUs of compute capability 9.0 and newer. Set it only
  /// for kernels that execute griddepcontrol.wait before they access memory that the previous
  /// kernel writes.
  bool overlap = false;
};

/// A shape with at least one thread for each of `count` elements: ceil(count / block.x) blocks in
/// the first dimension, so that even a kernel without a grid-stride loop processes every element.
/// The grid has 1 to 2^31 - 1 blocks; above (2^31 - 1) * block.x elements, a grid-stride loop is
/// needed to process every element.
/// @throws usage_error `block.x` is 0.
launch_shape elementwise_shape(std::size_t count, extent block = 256);

}  // namespace fatlink
