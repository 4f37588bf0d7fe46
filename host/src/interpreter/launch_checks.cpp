// SPDX-License-Identifier: Apache-2.0
#include "interpreter/launch_checks.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/races.hpp"

namespace fatlink::interpreter {
namespace {

using extents = std::array<std::uint64_t, 3>;

// Of an H200. Source: CUDA C++ Programming Guide, "Compute Capabilities", 9.0.
constexpr std::uint64_t k_multiprocessors = 132;
constexpr std::uint64_t k_threads = 2048;             // of a multiprocessor
constexpr std::uint64_t k_blocks = 32;                // of a multiprocessor
constexpr std::uint64_t k_shared_bytes = 228 * 1024;  // of a multiprocessor
constexpr std::uint64_t k_cluster_blocks = 8;         // of a cluster, unless an option allows 16

std::string text_of(extents const& size)
{
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
         std::to_string(size[2]);
}

void check_directives(kernel const& kernel, dimensions const& block)
{
  auto const& stated = kernel.entry->launches;
  extents const given{block.x, block.y, block.z};
  if (auto const& required = stated.required_block;
      required.count() != 0 && required.extent != given)
    fail_launch(kernel, "the block is " + text_of(given) + " threads; .reqntid requires " +
                            text_of(required.extent));
  if (block.count() > kernel.max_threads())
    fail_launch(kernel, "the block has " + std::to_string(block.count()) + " threads; " +
                            "__launch_bounds__ (.maxntid) allows at most " +
                            std::to_string(kernel.max_threads()));
}

void check_clusters(kernel const& kernel, dimensions const& grid)
{
  auto const& stated = kernel.entry->launches.cluster;
  if (stated.count() == 0) return;
  if (stated.count() > k_cluster_blocks)
    fail_launch(kernel, "its clusters have " + text_of(stated.extent) +
                            " blocks (.reqnctapercluster, __cluster_dims__); the most are " +
                            std::to_string(k_cluster_blocks));
  auto const& [x, y, z] = stated.extent;
  if (grid.x % x == 0 && grid.y % y == 0 && grid.z % z == 0) return;
  fail_launch(kernel, "the grid of " + text_of({grid.x, grid.y, grid.z}) +
                          " blocks is not a multiple of its clusters, " + text_of(stated.extent) +
                          " blocks (.reqnctapercluster, __cluster_dims__)");
}

}  // namespace

bool kernel::is_cooperative() const noexcept
{
  return std::any_of(codes.begin(), codes.end(),
                     [](auto const& code) { return code->is_cooperative; });
}

bool kernel::uses_reserved_shared() const noexcept
{
  return std::any_of(codes.begin(), codes.end(),
                     [](auto const& code) { return code->uses_reserved_shared; });
}

bool kernel::uses_heap() const noexcept
{
  return std::any_of(codes.begin(), codes.end(), [](auto const& code) { return code->uses_heap; });
}

std::uint32_t kernel::max_threads() const noexcept
{
  std::uint64_t most = k_max_threads;
  for (auto const& stated : {entry->launches.max_block, entry->launches.required_block})
    if (stated.count() != 0) most = std::min(most, stated.count());
  return static_cast<std::uint32_t>(most);
}

void fail_launch(kernel const& kernel, std::string const& reason)
{
  throw failure(fault::launch, "kernel " + kernel.entry->name + ": " + reason,
                kernel.entry->source);
}

void check_shape(kernel const& kernel, launch_options const& options)
{
  auto const& [grid, block] = std::pair{options.grid, options.block};
  auto const fits = block.x <= k_max_threads && block.y <= k_max_threads && block.z <= 64;
  if (!fits || block.count() == 0 || block.count() > k_max_threads)
    fail_launch(kernel, "the block must have 1 to 1024 threads, at most 64 of them along z");
  check_directives(kernel, block);
  if (grid.count() == 0 || grid.x > 0x7FFFFFFF || grid.y > 0xFFFF || grid.z > 0xFFFF)
    fail_launch(kernel, "the grid must have 1 to 2147483647 x 65535 x 65535 blocks");
  if (options.shared_bytes > kernel.max_dynamic_shared())
    fail_launch(kernel, std::to_string(options.shared_bytes) +
                            " bytes of dynamic shared memory are more than " +
                            std::to_string(kernel.max_dynamic_shared()));
  check_clusters(kernel, grid);
  if (options.check_races && grid.count() >= k_max_checked_threads / block.count())
    fail_launch(kernel, "more threads than the race check can name: at most " +
                            std::to_string(k_max_checked_threads - 1));
  if (!kernel.is_cooperative()) return;
  if (auto const most = max_resident_blocks(kernel, options); grid.count() > most)
    fail_launch(kernel, "its blocks may wait for each other (grid synchronisation), and at most " +
                            std::to_string(most) + " of the " + std::to_string(grid.count()) +
                            " run at a time");
}

std::uint64_t max_resident_blocks(kernel const& kernel, launch_options const& options) noexcept
{
  auto const threads = (options.block.count() + k_lanes - 1) / k_lanes * k_lanes;
  auto const shared = std::uint64_t{kernel.shared_bytes} + options.shared_bytes;
  auto const blocks = std::min(
      {k_threads / threads, k_blocks, k_shared_bytes / (shared + k_reserved_shared_bytes)});
  return blocks * k_multiprocessors;
}

}  // namespace fatlink::interpreter
