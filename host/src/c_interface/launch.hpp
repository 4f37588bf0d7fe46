// SPDX-License-Identifier: Apache-2.0
// Launches as the C interface states them. Threads: no shared state.
#pragma once

#include "c_interface/struct_size.hpp"
#include "fatlink/c/kernel.h"
#include "fatlink/launch_shape.hpp"
#include "fatlink/stream.hpp"

namespace fatlink::c {

inline extent extent_of(fatlink_extent const& size)
{
  return {std::max(size.x, 1U), std::max(size.y, 1U), std::max(size.z, 1U)};
}

/// @throws usage_error `shape` is NULL or malformed.
inline launch_shape read_shape(fatlink_launch_shape const* shape)
{
  auto const stated = required_struct(shape, "shape");
  return {.grid = extent_of(stated.grid),
          .block = extent_of(stated.block),
          .shared_bytes = stated.shared_bytes,
          .overlap = stated.overlap != 0};
}

/// How many parameters the kernel of a handle has; 0 of NULL.
template <typename Handle>
std::size_t parameter_count(Handle const* kernel)
{
  return kernel == nullptr ? 0 : kernel->kernel.parameter_sizes().size();
}

/// Bytes of a parameter; 0 where there is none of this index.
template <typename Handle>
std::size_t parameter_bytes(Handle const* kernel, std::size_t index)
{
  return index < parameter_count(kernel) ? kernel->kernel.parameter_sizes()[index] : 0;
}

/// @throws usage_error a pointer is NULL, or `shape` is malformed. @throws as launch_raw.
template <typename Handle>
void launch(Handle const* kernel, void* queue, fatlink_launch_shape const* shape,
            void* const* arguments, std::size_t count)
{
  required(kernel, "kernel")
      .kernel.launch_raw(stream_view(queue), read_shape(shape),
                         list(arguments, count, "arguments"));
}

}  // namespace fatlink::c
