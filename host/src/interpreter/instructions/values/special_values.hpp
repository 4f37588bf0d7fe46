// SPDX-License-Identifier: Apache-2.0
// What special registers hold. Source: PTX ISA 9.0, "Special Registers".
#pragma once

#include <cstdint>

#include "interpreter/execution/block.hpp"

namespace fatlink::interpreter {

/// What a special register reads; in operation::immediate.
enum class special : std::uint64_t {
  // Along an axis:
  tid,
  ntid,
  ctaid,
  nctaid,
  cluster,
  cluster_count,
  block_in_cluster,
  cluster_size,
  // Without axes:
  laneid,
  warpid,
  nwarpid,
  cluster_rank,
  cluster_blocks,
  one,
  zero,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  nanoseconds,
  nanoseconds_hi,
  dynamic_shared,
  total_shared,
  all_shared,
  workspace_lower,
  workspace_upper,
  reserved_begin,
  reserved_middle,
  reserved_end,
  reserved_bytes,
};

inline std::uint32_t axis_of(dimensions const& index, std::uint32_t axis) noexcept
{
  return axis == 0 ? index.x : axis == 1 ? index.y : index.z;
}

/// The value in a lane. `axis`: 0 to 2 of a register with axes.
std::uint64_t value_of(warp const& w, special source, std::uint32_t axis, unsigned lane) noexcept;

}  // namespace fatlink::interpreter
