// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/block.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_never = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t k_turn = 8192;          // operations
constexpr std::uint32_t k_max_local = 1 << 19;  // bytes of a thread, as in CUDA
constexpr unsigned k_max_depth = 1024;
constexpr std::uint32_t k_local_alignment = 16;

}  // namespace

void warp::start(launch_state const& launch, interpreter::block& block, unsigned index,
                 lane_mask lanes, interpreter::code const& entry)
{
  launch_ = &launch;
  block_ = &block;
  index_ = index;
  live_ = lanes;
  carry = 0;
  last_sync = 0;
  released_to_block = released_to_device = acquired = 0;
  copies.clear();
  stacks.clear();
  cluster_arrivals = 0;
  issued_ = charged_ = 0;
  last_region_ = nullptr;
  spans_ = {};
  checks_races_ = launch.races != nullptr;
  checks_accesses_ = checks_races_ || launch.checks_initialization;
  turn_is_over_ = true;
  polled_ = {};
  last_poll_ = nullptr;
  turn_length_ = launch.budget == 0
                     ? k_turn
                     : static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.budget, k_turn));
  groups_.clear();
  running_ = {};
  add_group(lanes, 0, new_frame(entry, lanes), group_state::ready);
}

turn_end warp::run(bool& has_run)
{
  while (select()) {
    has_run = true;
    if (turn_is_over_) begin_turn();
    run_group();
    if (running_.lanes != 0) groups_.push_back(running_);
    running_.lanes = 0;
    if (turn_is_over_) return has_polled_ ? turn_end::polled : turn_end::worked;
  }
  return turn_end::waits;
}

void warp::run_group()
{
  auto const* const operations = running_.frame->code->operations.data();
  auto const lanes = static_cast<unsigned>(std::popcount(running_.lanes));
  auto const turn_at_start = turn_;
  bool turn_ended = false;
  do {
    auto const& op = operations[running_.pc];
    auto const mask = running_.lanes & predicate(op.guard);
    if (mask != 0) op.run(*this, op, mask);
    ++running_.pc;
    turn_ended = --turn_ == 0;
  } while (!turn_ended && running_.pc < stop_before_);
  executed += std::uint64_t{turn_at_start - turn_} * lanes;
  if (turn_ended || yields_) end_turn();
}

void warp::merge_groups()
{
  for (std::size_t i = 0; i + 1 < groups_.size(); ++i)
    for (std::size_t j = i + 1; j < groups_.size();) {
      auto& a = groups_[i];
      auto const& b = groups_[j];
      if (a.frame != b.frame || a.pc != b.pc || a.state == group_state::at_barrier ||
          b.state == group_state::at_barrier) {
        ++j;
        continue;
      }
      a.lanes |= b.lanes;
      a.state = group_state::ready;
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

group* warp::choose()
{
  group* best = nullptr;
  auto const precedes = [this](group const& a, group const& b) {
    if (rotate_) return a.last_turn < b.last_turn;
    return a.frame->depth != b.frame->depth ? a.frame->depth > b.frame->depth : a.pc < b.pc;
  };
  for (auto& group : groups_)
    if (group.state == group_state::ready && (best == nullptr || precedes(group, *best)))
      best = &group;
  rotate_ = false;
  return best;
}

bool warp::select()
{
  if (groups_.size() > 1) merge_groups();
  auto* const selected = choose();
  if (selected == nullptr) return false;
  running_ = *selected;
  running_.last_turn = ++turns_;
  groups_.erase(groups_.begin() + (selected - groups_.data()));
  enter(running_.frame);
  stop_before_ = k_never;
  for (auto const& group : groups_)
    if (group.frame == running_.frame && group.state != group_state::at_barrier &&
        group.pc > running_.pc)
      stop_before_ = std::min(stop_before_, group.pc);
  return true;
}

void warp::enter(frame* frame) noexcept
{
  registers_ = reinterpret_cast<std::byte*>(frame->registers.data());
  constants_ = const_cast<std::byte*>(
      frame->code->constants.data());  // never written: results are registers
  predicates_ = frame->predicates.data();
  local_ = frame->local.data();
  local_bytes_ = frame->code->local_bytes;
}

void warp::add_group(lane_mask lanes, std::uint32_t pc, frame* frame, group_state state)
{
  groups_.push_back({.lanes = lanes,
                     .pc = pc,
                     .frame = frame,
                     .state = state,
                     .barrier = 0,
                     .barrier_result = nullptr,
                     .last_turn = running_.last_turn});
}

frame* warp::new_frame(interpreter::code const& function, lane_mask lanes)
{
  auto& spare = spare_frames_[function.index];
  if (spare.empty()) {
    frames_.push_back(std::make_unique<frame>());
    auto& added = *frames_.back();
    added.code = &function;
    added.registers.resize(function.register_bytes / sizeof(std::uint64_t));
    added.predicates.resize(function.predicates);
    added.local.resize(std::size_t{function.local_bytes} * k_lanes);
    spare.push_back(&added);
  }
  auto* const frame = spare.back();
  spare.pop_back();
  frame->caller = nullptr;
  frame->lanes = lanes;
  frame->depth = 0;
  frame->local_base = 0;
  return frame;
}

void warp::drop_lanes(frame* frame, lane_mask lanes)
{
  frame->lanes &= ~lanes;
  if (frame->lanes == 0) spare_frames_[frame->code->index].push_back(frame);
}

void warp::branch(lane_mask mask, std::uint32_t target)
{
  if (mask == running_.lanes) {
    running_.pc = target - 1;  // the loop adds 1
    if (!groups_.empty()) stop_before_ = 0;
    return;
  }
  add_group(mask, target, running_.frame, group_state::ready);
  running_.lanes &= ~mask;
  stop_before_ = 0;
}

void warp::call(lane_mask mask, interpreter::code const& callee, call_site const& site)
{
  auto* const caller = running_.frame;
  auto* const frame = new_frame(callee, mask);
  frame->caller = caller;
  frame->site = &site;
  frame->return_to = running_.pc + 1;
  frame->depth = caller->depth + 1;
  frame->local_base = static_cast<std::uint32_t>(
      caller->local_base + aligned(caller->code->local_bytes, k_local_alignment));
  if (frame->depth > k_max_depth || frame->local_base + callee.local_bytes > k_max_local)
    fail(error_kind::address, "calls too deep: the thread's stack is full",
         static_cast<unsigned>(std::countr_zero(mask)), caller->code->operations[running_.pc]);
  for (std::size_t i = 0; i < site.arguments.size(); ++i)
    for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
      auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
      std::memcpy(frame->local.data() + std::size_t{lane} * callee.local_bytes +
                      callee.parameters[i].offset,
                  local(lane, site.arguments[i].offset), site.arguments[i].size);
    }
  if (auto const skipping = running_.lanes & ~mask; skipping != 0)
    add_group(skipping, running_.pc + 1, caller, group_state::ready);
  running_.lanes = mask;
  running_.frame = frame;
  jump(0);
}

void warp::call_some(lane_mask mask, lane_mask postponed, interpreter::code const& callee,
                     call_site const& site)
{
  if (postponed != 0) add_group(postponed, running_.pc, running_.frame, group_state::ready);
  running_.lanes &= ~postponed;
  call(mask, callee, site);
}

void warp::leave(lane_mask mask)
{
  auto* const frame = running_.frame;
  if (frame->caller == nullptr) return finish(mask);
  stacks.release(mask, frame->depth);
  auto const& site = *frame->site;
  auto const& results = frame->code->results;
  for (std::size_t i = 0; i < site.results.size(); ++i)
    for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
      auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
      auto& caller = *frame->caller;
      std::memcpy(caller.local.data() + std::size_t{lane} * caller.code->local_bytes +
                      site.results[i].offset,
                  local(lane, results[i].offset), site.results[i].size);
    }
  if (auto const staying = running_.lanes & ~mask; staying != 0)
    add_group(staying, running_.pc + 1, frame, group_state::ready);
  running_.lanes = mask;
  running_.frame = frame->caller;
  jump(frame->return_to);
  drop_lanes(frame, mask);
}

void warp::finish(lane_mask mask)
{
  live_ &= ~mask;
  running_.lanes &= ~mask;
  stop_before_ = 0;
  for (auto* frame = running_.frame; frame != nullptr;) {
    auto* const caller = frame->caller;
    drop_lanes(frame, mask);
    frame = caller;
  }
  for (auto& group : groups_)  // a group that waited for a finished lane may continue
    if (group.state == group_state::converging) group.state = group_state::ready;
}

void warp::wait_at(unsigned barrier, operation const& op, lane_mask mask, bool has_result)
{
  add_group(mask, running_.pc + 1, running_.frame, group_state::at_barrier);
  groups_.back().barrier = barrier;
  groups_.back().barrier_result = has_result ? &op : nullptr;
  running_.lanes &= ~mask;
  stop_before_ = 0;
}

bool warp::converged(lane_mask members, lane_mask arrived, operation const& op)
{
  auto const missing = members & live_ & ~arrived;
  if (missing == 0) return true;
  if (meet_elsewhere(missing, arrived, op)) return false;
  if (auto const passing = running_.lanes & ~arrived; passing != 0)
    add_group(passing, running_.pc + 1, running_.frame, group_state::ready);
  add_group(arrived, running_.pc, running_.frame, group_state::converging);
  running_.lanes = 0;
  stop_before_ = 0;
  return false;
}

void warp::record_warp_sync() noexcept
{
  last_sync = ++block_->clock;
}

namespace {

// Copies of cp.async.

// Of a thread that never waits: what exceeds them is copied at once.
constexpr std::size_t k_max_copies = 4096;
constexpr std::size_t k_max_groups = 1024;

void perform(std::vector<pending_copy>& copies)
{
  for (auto const& copy : copies) {
    std::byte bytes[16] = {};
    std::memcpy(bytes, copy.source, copy.available);
    std::memcpy(copy.target, bytes, copy.size);
  }
  copies.clear();
}

}  // namespace

void pending_copies::clear()
{
  if (is_used_) lanes_ = {};
  is_used_ = false;
}

void pending_copies::add(unsigned lane, pending_copy const& copy)
{
  is_used_ = true;
  auto& open = lanes_[lane].open;
  if (open.size() == k_max_copies) perform(open);
  open.push_back(copy);
}

void pending_copies::complete_first(lane_copies& copies)
{
  copies.committed_copies -= copies.committed.front().size();
  perform(copies.committed.front());
  copies.committed.pop_front();
}

void pending_copies::commit(unsigned lane)
{
  is_used_ = true;
  auto& copies = lanes_[lane];
  copies.committed_copies += copies.open.size();
  copies.committed.push_back(std::move(copies.open));
  copies.open.clear();
  complete(lane, k_max_groups);
  while (copies.committed_copies > k_max_copies) complete_first(copies);
}

void pending_copies::complete(unsigned lane, std::uint64_t allowed)
{
  auto& copies = lanes_[lane];
  while (copies.committed.size() > allowed) complete_first(copies);
}

void pending_copies::complete_all(unsigned lane)
{
  complete(lane, 0);
  perform(lanes_[lane].open);
}

// The memory of alloca.

void thread_stacks::clear()
{
  if (is_used_) lanes_ = {};
  is_used_ = false;
}

std::optional<std::uint32_t> thread_stacks::allocate(unsigned lane, unsigned depth,
                                                     std::uint64_t bytes, std::uint64_t alignment)
{
  auto& stack = lanes_[lane];
  if (bytes > k_max_bytes || alignment > k_max_bytes) return {};
  auto const begin = aligned(stack.top, alignment);
  auto const end = begin + bytes;
  if (end > k_base + k_max_bytes) return {};
  is_used_ = true;
  if (stack.marks.empty() || stack.marks.back().depth < depth)
    stack.marks.push_back({depth, stack.top});
  stack.top = static_cast<std::uint32_t>(end);
  stack.bytes.resize(std::max<std::size_t>(stack.bytes.size(), end - k_base));
  return static_cast<std::uint32_t>(begin);
}

void thread_stacks::release(lane_mask lanes, unsigned depth)
{
  if (!is_used_) return;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto& stack = lanes_[static_cast<unsigned>(std::countr_zero(lanes))];
    while (!stack.marks.empty() && stack.marks.back().depth >= depth) {
      stack.top = stack.marks.back().top;
      stack.marks.pop_back();
    }
  }
}

bool thread_stacks::restore(unsigned lane, std::uint64_t top)
{
  auto& stack = lanes_[lane];
  if (top < k_base || top > stack.top) return false;
  stack.top = static_cast<std::uint32_t>(top);
  return true;
}

std::byte* thread_stacks::place(unsigned lane, std::uint64_t offset, std::uint64_t size) noexcept
{
  auto& stack = lanes_[lane];
  if (offset < k_base || offset > stack.top || size > stack.top - offset) return nullptr;
  return stack.bytes.data() + (offset - k_base);
}

}  // namespace fatlink::interpreter
