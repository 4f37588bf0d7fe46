// SPDX-License-Identifier: Apache-2.0
// Launches, and what they must fit: the device's limits, and those that a kernel states with
// directives. Source: PTX ISA 9.0, "Performance-Tuning Directives"; the limits of an H200.
#include "interpreter/machine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
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

/// @throws code_error (launch) naming the kernel.
[[noreturn]] void fail_launch(kernel const& kernel, std::string const& reason)
{
  throw code_error(error_kind::launch, "kernel " + kernel.entry->name + ": " + reason,
                   kernel.entry->source);
}

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
                            " blocks (.reqnctapercluster, __cluster_dims__); the maximum is " +
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

namespace {

/// How many blocks of a launch that fits run at a time: as many as on an H200, as far as threads,
/// blocks and shared memory limit them.
std::uint64_t max_resident_blocks(kernel const& kernel, launch_options const& options) noexcept
{
  auto const threads = (options.block.count() + k_lanes - 1) / k_lanes * k_lanes;
  auto const shared = std::uint64_t{kernel.shared_bytes} + options.shared_bytes;
  auto const blocks = std::min(
      {k_threads / threads, k_blocks, k_shared_bytes / (shared + k_reserved_shared_bytes)});
  return blocks * k_multiprocessors;
}

/// @throws code_error (launch) the grid, the block, the clusters or the shared memory do not fit.
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
    fail_launch(kernel, "more threads than the race check can track: at most " +
                            std::to_string(k_max_checked_threads - 1));
  if (!kernel.is_cooperative()) return;
  if (auto const most = max_resident_blocks(kernel, options); grid.count() > most)
    fail_launch(kernel, "its blocks may wait for each other (grid synchronisation), and at most " +
                            std::to_string(most) + " of the " + std::to_string(grid.count()) +
                            " run at a time");
}

/// The memory of the barrier at which all blocks of a cooperative grid meet, for kernels that may.
/// Its layout is that of cooperative_groups/details/sync.h: 4 bytes for the size, then the barrier.
class grid_workspace {
 public:
  grid_workspace(program const& program, kernel const& kernel) : memory_(program.device_memory())
  {
    constexpr std::size_t k_bytes = 64;
    if (!kernel.is_cooperative()) return;
    auto const region = memory_->allocate(k_bytes, "the grid's barrier");
    std::memset(region.data, 0, k_bytes);
    address_ = region.base;
  }
  ~grid_workspace()
  {
    if (address_ != 0) memory_->release(address_);
  }
  grid_workspace(grid_workspace const&) = delete;
  grid_workspace& operator=(grid_workspace const&) = delete;
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }

 private:
  std::shared_ptr<memory> memory_;
  std::uint64_t address_ = 0;
};

std::vector<std::byte> packed_arguments(kernel const& kernel,
                                        std::span<std::span<std::byte const> const> arguments)
{
  auto const& slots = kernel.entry->parameters;
  if (slots.size() != arguments.size())
    fail_launch(kernel, "takes " + std::to_string(slots.size()) + " arguments, given " +
                            std::to_string(arguments.size()));
  std::vector<std::byte> packed(kernel.entry->parameter_bytes);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].size != arguments[i].size())
      fail_launch(kernel, "argument " + std::to_string(i) + " is of " +
                              std::to_string(slots[i].size) + " bytes, given " +
                              std::to_string(arguments[i].size()));
    std::copy(arguments[i].begin(), arguments[i].end(), packed.begin() + slots[i].offset);
  }
  return packed;
}

}  // namespace

std::uint64_t launch(program& program, kernel const& kernel, launch_options const& options,
                     std::span<std::span<std::byte const> const> arguments)
{
  check_shape(kernel, options);
  grid_workspace const workspace(program, kernel);
  launch_state state;
  state.workspace = workspace.address();
  if (kernel.uses_heap()) state.heap = &program.heap();
  state.entry = kernel.entry;
  state.functions = kernel.functions;
  state.grid = options.grid;
  state.block = options.block;
  auto const& size = kernel.entry->launches.cluster;
  state.is_explicit_cluster = size.count() != 0;
  if (state.is_explicit_cluster)
    state.cluster = {static_cast<std::uint32_t>(size.extent[0]),
                     static_cast<std::uint32_t>(size.extent[1]),
                     static_cast<std::uint32_t>(size.extent[2])};
  state.parameters = packed_arguments(kernel, arguments);
  state.regions = program.device_memory()->snapshot();
  state.objects = program.device_memory()->textures().snapshot();
  state.static_shared = kernel.shared_bytes;
  state.dynamic_shared = options.shared_bytes;
  state.has_reserved_shared = kernel.uses_reserved_shared();
  state.budget = options.budget;
  race_map races;
  if (options.check_races) state.races = &races;
  state.checks_initialization = options.check_initialization;
  state.in_order = options.in_order;
  std::mutex printing;
  if (options.print)
    state.print = [&](std::string_view text) {
      std::lock_guard const lock(printing);
      options.print(text);
    };
  state.max_resident = max_resident_blocks(kernel, options);
  return run_blocks(state);
}

}  // namespace fatlink::interpreter
