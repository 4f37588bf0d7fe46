// SPDX-License-Identifier: Apache-2.0
// Messages on what threads wait for.
#include <bit>

#include "interpreter/execution/describe.hpp"

namespace fatlink::interpreter {
namespace {

constexpr unsigned k_named_groups = 4;  // named in a message

/// The operation at which `group` waits.
operation const& waits_at(group const& group)
{
  auto const& operations = group.frame->code->operations;
  return operations[group.state == group_state::at_barrier && group.pc > 0 ? group.pc - 1
                                                                           : group.pc];
}

char const* reason_of(group const& group) noexcept
{
  switch (group.state) {
    case group_state::at_barrier:
      return group.barrier == k_cluster_barrier
                 ? "waits at a barrier that other threads of the cluster never reach"
                 : "waits at a barrier that other threads of the block never reach";
    case group_state::converging:
      return "waits for lanes of its mask that never reach this instruction";
    case group_state::ready:
      return group.is_polling ? "waits for a change of memory" : "runs";
  }
  return "";
}

}  // namespace

void block::fail_deadlock()
{
  for (auto& warp : warps_)
    for (auto const& group : warp->waiting()) {
      auto const lane = static_cast<unsigned>(std::countr_zero(group.lanes));
      warp->fail_in(*group.frame->code, fault::deadlock,
                    reason_of(group) + other_waits(*warp, &group), lane, waits_at(group));
    }
  throw failure(fault::deadlock, "threads are left that cannot run");
}

std::string block::address_text(void const* place) const
{
  auto const* const byte = static_cast<std::byte const*>(place);
  auto const offset = [byte](std::byte const* begin) {
    return static_cast<std::uint64_t>(byte - begin);
  };
  auto const* const own = reinterpret_cast<std::byte const*>(shared_.data());
  if (byte >= own && byte < own + shared_bytes_)
    return hexadecimal(offset(own)) + " of shared memory";
  for (auto const& region : *launch_.regions)
    if (byte >= region.data && byte < region.data + region.size)
      return hexadecimal(region.base + offset(region.data)) +
             (region.name.empty() ? "" : " (" + region.name + ")");
  return "an address of its own";
}

std::string block::other_waits(warp const& reporter, group const* reported) const
{
  std::string text;
  unsigned count = 0;
  for (auto const& warp : warps_)
    for (auto const& group : warp->waiting()) {
      if (warp.get() == &reporter && &group == reported) continue;
      if (++count > k_named_groups) continue;
      auto const& function = *group.frame->code;
      auto const& instruction = function.instructions[waits_at(group).instruction];
      auto const lane = static_cast<unsigned>(std::countr_zero(group.lanes));
      text += "; thread " + triple(thread(warp->index(), lane));
      if (auto const others = std::popcount(group.lanes) - 1; others != 0)
        text += ", with " + std::to_string(others) + " others of its warp,";
      text += std::string(" ") + reason_of(group) + ": " + line_of(instruction.text) + " (" +
              place_of(function, instruction) + ")";
    }
  if (count > k_named_groups)
    text += "; and " + std::to_string(count - k_named_groups) + " more groups of threads";
  return text + unstarted_blocks();
}

std::string block::unstarted_blocks() const
{
  auto const total = launch_.grid.count();
  auto const started = launch_.started.load();
  if (started >= total) return {};
  return "; " + std::to_string(total - started) +
         " blocks of the grid have not started, because at most " +
         std::to_string(launch_.max_resident) + " run at a time: none may wait for them";
}

}  // namespace fatlink::interpreter
