// SPDX-License-Identifier: Apache-2.0
// Threads that wait. The turns of a warp: how long a group runs before others do, what waiting
// costs of the instruction budget, and the message when the budget is exhausted. Messages on
// deadlocks.
#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/warp.hpp"
#include "util/process/cancel_check.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_poll_turn = 128;         // operations of a group that polls
constexpr std::uint32_t k_operations_a_poll = 64;  // a loop that waits has at most so many
// Idle turns that exhaust the budget, once every thread of the launch waits. A group that sleeps or
// reads a clock may stop waiting by itself, and so may one whose registers change: it may count.
constexpr unsigned k_idle_turns_shift = 10;
constexpr unsigned k_timed_turns_shift = 17;

}  // namespace

void warp::begin_turn() noexcept
{
  turn_is_over_ = false;
  yields_ = false;
  reads_clock_ = false;
  repeats_ = false;
  polls_ = 0;
  turn_begin_ = running_.is_polling ? std::min(k_poll_turn, turn_length_) : turn_length_;
  turn_ = turn_begin_;
}

std::uint64_t warp::charge_of(std::uint64_t spent, bool is_idle) const noexcept
{
  auto const may_end_itself = yields_ || reads_clock_;
  if (!is_idle || (!may_end_itself && !repeats_)) return spent;
  auto const shift = may_end_itself ? k_timed_turns_shift : k_idle_turns_shift;
  return std::max<std::uint64_t>(turn_length_, launch_->budget >> shift);
}

/// The registers and the local memory of the running group; 0: too much to compare.
std::uint64_t warp::state_digest() const noexcept
{
  constexpr std::size_t k_max_bytes = std::size_t{1} << 16;
  std::size_t bytes = 0;
  std::uint64_t digest = running_.lanes;
  auto const add = [&](void const* data, std::size_t size) {
    bytes += size;
    if (bytes > k_max_bytes) return;
    std::string_view const text(static_cast<char const*>(data), size);
    digest = (digest ^ std::hash<std::string_view>{}(text)) * 0x9E3779B97F4A7C15U;
  };
  for (auto const* frame = running_.frame; frame != nullptr; frame = frame->caller) {
    add(frame->registers.data(), frame->registers.size() * sizeof(std::uint64_t));
    add(frame->predicates.data(), frame->predicates.size() * sizeof(std::uint32_t));
    add(frame->local.data(), frame->local.size());
  }
  return bytes > k_max_bytes ? 0 : std::max<std::uint64_t>(digest, 1);
}

void warp::compare_state(poll_record& entry) noexcept
{
  auto const state = state_digest();
  repeats_ |= state != 0 && state == entry.state;
  entry.state = state;
}

void warp::end_turn()
{
  auto const spent = turn_begin_ - turn_;
  has_polled_ = yields_ || std::uint64_t{polls_} * k_operations_a_poll >= spent;
  issued_ += charge_of(spent, has_polled_ && block_->launch_is_idle());
  issued_ += std::exchange(charged_, 0);
  running_.is_polling = has_polled_;
  turn_is_over_ = true;
  rotate_ = true;
  if (launch_->stop) throw stopped{};
  detail::throw_if_cancelled(stage::device);
  if (launch_->budget == 0 || issued_ < launch_->budget || running_.lanes == 0) return;
  auto const& operations = running_.frame->code->operations;
  fail(error_kind::endless,
       "is still running after " + std::to_string(launch_->budget) + " instructions" +
           reason_of_waiting(),
       static_cast<unsigned>(std::countr_zero(running_.lanes)),
       operations[std::min<std::size_t>(running_.pc, operations.size() - 1)]);
}

/// For a group that waited in its last turn; otherwise empty.
std::string warp::reason_of_waiting() const
{
  if (!has_polled_) return {};
  std::string reason;
  if (last_poll_ != nullptr && polls_ != 0)
    reason = ", the limit for polling: it waits for another value at " +
             block_->address_text(last_poll_->digest.place);
  else
    reason = ", the limit for polling: it sleeps repeatedly";
  if (block_->launch_is_idle()) reason += ", and every thread that has started waits";
  return reason + block_->other_waits(*this, nullptr);
}

namespace {

// Messages on what threads wait for.

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
      warp->fail_in(*group.frame->code, error_kind::deadlock,
                    reason_of(group) + other_waits(*warp, &group), lane, waits_at(group));
    }
  throw code_error(error_kind::deadlock, "the remaining threads cannot run");
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
