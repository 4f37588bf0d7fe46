// SPDX-License-Identifier: Apache-2.0
// Launches as the C interface states them. Threads: no shared state.
#pragma once

#include "c_interface/struct_size.hpp"
#include "fatlink/c/kernel.h"
#include "fatlink/launch_shape.hpp"

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

}  // namespace fatlink::c
