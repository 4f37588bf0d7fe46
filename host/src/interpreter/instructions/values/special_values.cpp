// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/values/special_values.hpp"

#include <chrono>

namespace fatlink::interpreter {
namespace {

std::uint64_t nanoseconds() noexcept
{
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

std::uint64_t lane_mask_value(special source, unsigned lane) noexcept
{
  auto const bit = std::uint64_t{1} << lane;
  switch (source) {
    case special::lanemask_eq:
      return bit;
    case special::lanemask_le:
      return 2 * bit - 1;
    case special::lanemask_lt:
      return bit - 1;
    case special::lanemask_ge:
      return ~(bit - 1);
    default:
      return ~(2 * bit - 1);
  }
}

/// Places and sizes of the grid, of clusters and of the block, along an axis.
std::uint64_t axis_value(warp const& w, special source, std::uint32_t axis, unsigned lane) noexcept
{
  auto const& launch = w.launch();
  switch (source) {
    case special::tid:
      return axis_of(w.block().thread(w.index(), lane), axis);
    case special::ntid:
      return axis_of(launch.block, axis);
    case special::ctaid:
      return axis_of(w.block().index(), axis);
    case special::nctaid:
      return axis_of(launch.grid, axis);
    case special::cluster:
      return axis_of(w.block().index(), axis) / axis_of(launch.cluster, axis);
    case special::cluster_count:
      return axis_of(launch.grid, axis) / axis_of(launch.cluster, axis);
    case special::block_in_cluster:
      return axis_of(w.block().index(), axis) % axis_of(launch.cluster, axis);
    default:
      return axis_of(launch.cluster, axis);
  }
}

/// Sizes of shared memory, and where the reserved part of it is.
std::uint64_t shared_value(warp const& w, special source) noexcept
{
  auto const total = std::uint64_t{w.launch().static_shared} + w.launch().dynamic_shared;
  switch (source) {
    case special::dynamic_shared:
      return w.launch().dynamic_shared;
    case special::total_shared:
      return total;
    case special::all_shared:
      return total + k_reserved_shared_bytes;
    case special::reserved_begin:
      return w.block().shared_bytes() - k_reserved_shared_bytes;
    case special::reserved_middle:
      return w.block().shared_bytes() - k_reserved_shared_bytes / 2;
    case special::reserved_end:
      return w.block().shared_bytes();
    default:
      return k_reserved_shared_bytes;
  }
}

}  // namespace

std::uint64_t value_of(warp const& w, special source, std::uint32_t axis, unsigned lane) noexcept
{
  if (source <= special::cluster_size) return axis_value(w, source, axis, lane);
  if (source >= special::lanemask_eq && source <= special::lanemask_gt)
    return lane_mask_value(source, lane);
  switch (source) {
    case special::cluster_rank:
      return w.block().rank();
    case special::cluster_blocks:
      return w.launch().cluster.count();
    case special::laneid:
      return lane;
    case special::warpid:
      return w.index();
    case special::nwarpid:
      return w.block().warp_count();
    case special::one:
      return 1;
    case special::zero:
      return 0;
    case special::clock:
    case special::nanoseconds:
      return nanoseconds();
    case special::clock_hi:
    case special::nanoseconds_hi:
      return nanoseconds() >> 32;
    case special::workspace_lower:
      return w.launch().workspace & 0xFFFFFFFFU;
    case special::workspace_upper:
      return w.launch().workspace >> 32;
    default:
      return shared_value(w, source);
  }
}

}  // namespace fatlink::interpreter
