// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "interpreter/execution/block.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_never = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t k_turn = 8192;           // operations
constexpr std::uint32_t k_most_local = 1 << 19;  // bytes of a thread, as CUDA's
constexpr unsigned k_most_depth = 1024;
constexpr std::uint32_t k_local_alignment = 16;

}  // namespace

void warp::start(launch_state const& launch, interpreter::block& of, unsigned index,
                 lane_mask lanes, interpreter::code const& entry)
{
  launch_ = &launch;
  block_ = &of;
  index_ = index;
  live_ = lanes;
  carry = 0;
  last_sync = 0;
  issued_ = 0;
  last_region_ = nullptr;
  turn_length_ = launch.budget == 0
                     ? k_turn
                     : static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.budget, k_turn));
  turn_ = turn_length_;
  groups_.clear();
  now_ = {};
  add_group(lanes, 0, new_frame(entry, lanes), group::state::ready);
}

bool warp::run()
{
  bool any = false;
  while (select()) {
    any = true;
    run_group();
    if (now_.lanes != 0) groups_.push_back(now_);
    now_.lanes = 0;
  }
  return any;
}

void warp::run_group()
{
  auto const* const operations = now_.in->code->operations.data();
  auto const lanes = static_cast<unsigned>(std::popcount(now_.lanes));
  auto const turn_at_start = turn_;
  bool turn_ended = false;
  do {
    auto const& op = operations[now_.pc];
    auto const mask = now_.lanes & predicate(op.guard);
    if (mask != 0) op.run(*this, op, mask);
    ++now_.pc;
    turn_ended = --turn_ == 0;
  } while (!turn_ended && now_.pc < stop_before_);
  executed += std::uint64_t{turn_at_start - turn_} * lanes;
  if (turn_ended) take_turn();
}

void warp::take_turn()
{
  issued_ += turn_length_;
  turn_ = turn_length_;
  rotate_ = true;
  if (launch_->stop) throw stopped{};
  if (launch_->budget == 0 || issued_ < launch_->budget || now_.lanes == 0) return;
  auto const& operations = now_.in->code->operations;
  fail(fault::endless,
       "is still running after " + std::to_string(launch_->budget) + " instructions",
       static_cast<unsigned>(std::countr_zero(now_.lanes)),
       operations[std::min<std::size_t>(now_.pc, operations.size() - 1)]);
}

void warp::merge_groups()
{
  for (std::size_t i = 0; i + 1 < groups_.size(); ++i)
    for (std::size_t j = i + 1; j < groups_.size();) {
      auto& a = groups_[i];
      auto const& b = groups_[j];
      if (a.in != b.in || a.pc != b.pc || a.is == group::state::at_barrier ||
          b.is == group::state::at_barrier) {
        ++j;
        continue;
      }
      a.lanes |= b.lanes;
      a.is = group::state::ready;
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

group* warp::choose()
{
  group* best = nullptr;
  auto const better = [this](group const& a, group const& b) {
    if (rotate_) return a.last_turn < b.last_turn;
    return a.in->depth != b.in->depth ? a.in->depth > b.in->depth : a.pc < b.pc;
  };
  for (auto& one : groups_)
    if (one.is == group::state::ready && (best == nullptr || better(one, *best))) best = &one;
  rotate_ = false;
  return best;
}

bool warp::select()
{
  if (groups_.size() > 1) merge_groups();
  auto* const chosen = choose();
  if (chosen == nullptr) return false;
  now_ = *chosen;
  now_.last_turn = ++turns_;
  groups_.erase(groups_.begin() + (chosen - groups_.data()));
  enter(now_.in);
  stop_before_ = k_never;
  for (auto const& other : groups_)
    if (other.in == now_.in && other.is != group::state::at_barrier && other.pc > now_.pc)
      stop_before_ = std::min(stop_before_, other.pc);
  return true;
}

void warp::enter(frame* in) noexcept
{
  registers_ = reinterpret_cast<std::byte*>(in->registers.data());
  constants_ = const_cast<std::byte*>(in->code->constants.data());  // operands d are registers
  predicates_ = in->predicates.data();
  local_ = in->local.data();
  local_bytes_ = in->code->local_bytes;
}

void warp::add_group(lane_mask lanes, std::uint32_t pc, frame* in, group::state is)
{
  groups_.push_back({.lanes = lanes,
                     .pc = pc,
                     .in = in,
                     .is = is,
                     .barrier = 0,
                     .barrier_result = nullptr,
                     .last_turn = now_.last_turn});
}

frame* warp::new_frame(interpreter::code const& of, lane_mask lanes)
{
  auto& spare = spare_frames_[of.index];
  if (spare.empty()) {
    frames_.push_back(std::make_unique<frame>());
    auto& made = *frames_.back();
    made.code = &of;
    made.registers.resize(of.register_bytes / sizeof(std::uint64_t));
    made.predicates.resize(of.predicates);
    made.local.resize(std::size_t{of.local_bytes} * k_lanes);
    spare.push_back(&made);
  }
  auto* const taken = spare.back();
  spare.pop_back();
  taken->caller = nullptr;
  taken->lanes = lanes;
  taken->depth = 0;
  taken->local_base = 0;
  return taken;
}

void warp::drop_lanes(frame* from, lane_mask lanes)
{
  from->lanes &= ~lanes;
  if (from->lanes == 0) spare_frames_[from->code->index].push_back(from);
}

void warp::branch(lane_mask mask, std::uint32_t target)
{
  if (mask == now_.lanes) {
    now_.pc = target - 1;  // the loop adds 1
    if (!groups_.empty()) stop_before_ = 0;
    return;
  }
  add_group(mask, target, now_.in, group::state::ready);
  now_.lanes &= ~mask;
  stop_before_ = 0;
}

void warp::call(lane_mask mask, interpreter::code const& callee, call_site const& site)
{
  auto* const caller = now_.in;
  auto* const made = new_frame(callee, mask);
  made->caller = caller;
  made->site = &site;
  made->return_to = now_.pc + 1;
  made->depth = caller->depth + 1;
  made->local_base = caller->local_base + (caller->code->local_bytes + k_local_alignment - 1) /
                                              k_local_alignment * k_local_alignment;
  if (made->depth > k_most_depth || made->local_base + callee.local_bytes > k_most_local)
    fail(fault::address, "calls too deep: the thread's stack is full",
         static_cast<unsigned>(std::countr_zero(mask)), caller->code->operations[now_.pc]);
  for (std::size_t i = 0; i < site.arguments.size(); ++i)
    for (auto left = mask; left != 0; left &= left - 1) {
      auto const lane = static_cast<unsigned>(std::countr_zero(left));
      std::memcpy(
          made->local.data() + std::size_t{lane} * callee.local_bytes + callee.parameters[i].offset,
          local(lane, site.arguments[i].offset), site.arguments[i].size);
    }
  if (auto const rest = now_.lanes & ~mask; rest != 0)
    add_group(rest, now_.pc + 1, caller, group::state::ready);
  now_.lanes = mask;
  now_.in = made;
  jump(0);
}

void warp::call_some(lane_mask mask, lane_mask others, interpreter::code const& callee,
                     call_site const& site)
{
  if (others != 0) add_group(others, now_.pc, now_.in, group::state::ready);
  now_.lanes &= ~others;
  call(mask, callee, site);
}

void warp::leave(lane_mask mask)
{
  auto* const from = now_.in;
  if (from->caller == nullptr) return finish(mask);
  auto const& site = *from->site;
  auto const& results = from->code->results;
  for (std::size_t i = 0; i < site.results.size(); ++i)
    for (auto left = mask; left != 0; left &= left - 1) {
      auto const lane = static_cast<unsigned>(std::countr_zero(left));
      auto& to = *from->caller;
      std::memcpy(
          to.local.data() + std::size_t{lane} * to.code->local_bytes + site.results[i].offset,
          local(lane, results[i].offset), site.results[i].size);
    }
  if (auto const rest = now_.lanes & ~mask; rest != 0)
    add_group(rest, now_.pc + 1, from, group::state::ready);
  now_.lanes = mask;
  now_.in = from->caller;
  jump(from->return_to);
  drop_lanes(from, mask);
}

void warp::finish(lane_mask mask)
{
  live_ &= ~mask;
  now_.lanes &= ~mask;
  stop_before_ = 0;
  for (auto* at = now_.in; at != nullptr;) {
    auto* const caller = at->caller;
    drop_lanes(at, mask);
    at = caller;
  }
  for (auto& one : groups_)  // those that waited for a lane that has gone may go on
    if (one.is == group::state::converging) one.is = group::state::ready;
}

void warp::wait_at(unsigned barrier, operation const& op, lane_mask mask, bool has_result)
{
  add_group(mask, now_.pc + 1, now_.in, group::state::at_barrier);
  groups_.back().barrier = barrier;
  groups_.back().barrier_result = has_result ? &op : nullptr;
  now_.lanes &= ~mask;
  stop_before_ = 0;
}

bool warp::converged(lane_mask named, lane_mask here)
{
  if ((named & live_ & ~here) == 0) return true;
  add_group(now_.lanes, now_.pc, now_.in, group::state::converging);
  now_.lanes = 0;
  stop_before_ = 0;
  return false;
}

void warp::note_warp_sync() noexcept
{
  last_sync = ++block_->clock;
}

}  // namespace fatlink::interpreter
