// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/block.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <mutex>
#include <thread>

#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

dimensions unflatten(std::uint64_t index, dimensions const& extent) noexcept
{
  return {static_cast<std::uint32_t>(index % extent.x),
          static_cast<std::uint32_t>(index / extent.x % extent.y),
          static_cast<std::uint32_t>(index / extent.x / extent.y)};
}

/// Writes the result of `released`'s bar.red, for which it waited.
void write_barrier_result(group const& released, barrier const& completed) noexcept
{
  auto const& op = *released.barrier_result;
  auto& frame = *released.frame;
  auto const action = static_cast<barrier_action>(op.flags);
  if (action == barrier_action::population) {
    auto* const lanes = reinterpret_cast<std::byte*>(frame.registers.data()) + op.d;
    each_lane(released.lanes, [=](unsigned lane) { store(lanes, lane, completed.population); });
    return;
  }
  auto const holds = action == barrier_action::conjunction
                         ? completed.population == completed.voters
                         : completed.population != 0;
  auto& predicate = frame.predicates[op.d >> 1];
  predicate = (predicate & ~released.lanes) | (holds ? released.lanes : 0);
}

/// The queue of blocks from which the host threads of a launch take work.
class block_queue {
 public:
  explicit block_queue(launch_state const& launch) : launch_(launch), count_(launch.grid.count()) {}

  void work() noexcept
  {
    std::uint64_t index = 0;
    try {
      block block(launch_);
      while (!launch_.stop && (index = next_++) < count_) block.run(index);
      executed_ += block.executed();
    } catch (stopped const&) {
    } catch (...) {
      fail(index, std::current_exception());
    }
  }

  std::uint64_t result()
  {
    if (failure_) std::rethrow_exception(failure_);
    return executed_;
  }

 private:
  void fail(std::uint64_t index, std::exception_ptr failure) noexcept
  {
    std::lock_guard const lock(mutex_);
    launch_.stop = true;
    if (failure_ && failed_index_ < index) return;
    failure_ = std::move(failure);
    failed_index_ = index;
  }

  launch_state const& launch_;
  std::uint64_t count_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> executed_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::uint64_t failed_index_ = 0;
};

}  // namespace

block::block(launch_state const& launch)
    : launch_(launch),
      shared_bytes_(std::uint64_t{launch.static_shared} + launch.dynamic_shared),
      shared_((shared_bytes_ + 7) / 8)
{
  auto const threads = launch.block.count();
  for (std::uint64_t i = 0; i < threads; i += k_lanes) warps_.push_back(std::make_unique<warp>());
}

dimensions block::thread(unsigned warp_index, unsigned lane) const noexcept
{
  return unflatten(std::uint64_t{warp_index} * k_lanes + lane, launch_.block);
}

std::uint64_t block::executed() const noexcept
{
  std::uint64_t sum = 0;
  for (auto const& warp : warps_) sum += warp->executed;
  return sum;
}

std::uint32_t block::live_threads() const noexcept
{
  int sum = 0;
  for (auto const& warp : warps_) sum += std::popcount(warp->live());
  return static_cast<std::uint32_t>(sum);
}

void block::run(std::uint64_t index)
{
  linear_ = index;
  index_ = unflatten(index, launch_.grid);
  barriers_ = {};
  if (launch_.races != nullptr)
    writers_ = std::make_unique<std::atomic<std::uint64_t>[]>(shared_bytes_);
  clock = 1;
  last_barrier = 0;
  auto remaining = static_cast<unsigned>(launch_.block.count());
  for (unsigned i = 0; i < warps_.size(); ++i) {
    auto const lanes = std::min(remaining, k_lanes);
    remaining -= lanes;
    warps_[i]->start(launch_, *this, i, k_all_lanes >> (k_lanes - lanes), *launch_.entry);
  }
  do {
    for (auto& warp : warps_) warp->run();
  } while (release_barriers());
  if (live_threads() != 0) fail_deadlock();
}

bool block::release_barriers()
{
  bool any_released = false;
  for (unsigned i = 0; i < k_barriers; ++i) {
    auto const& barrier = barriers_[i];
    if (barrier.arrived == 0) continue;
    auto const expected = barrier.expected != 0 ? barrier.expected : live_threads();
    if (barrier.arrived < expected) continue;
    release(i);
    any_released = true;
  }
  return any_released;
}

void block::release(unsigned number)
{
  auto const completed = barriers_[number];
  barriers_[number] = {};
  ++clock;
  if (completed.expected == 0 || completed.expected >= live_threads()) last_barrier = clock;
  for (auto& warp : warps_)
    for (auto& group : warp->waiting()) {
      if (group.state != group_state::at_barrier || group.barrier != number) continue;
      group.state = group_state::ready;
      if (group.barrier_result != nullptr) write_barrier_result(group, completed);
      group.barrier_result = nullptr;
    }
}

void block::fail_deadlock()
{
  for (auto& warp : warps_)
    for (auto const& group : warp->waiting()) {
      auto const lane = static_cast<unsigned>(std::countr_zero(group.lanes));
      auto const at_barrier = group.state == group_state::at_barrier;
      auto const& code = *group.frame->code;
      auto const& op = code.operations[at_barrier && group.pc > 0 ? group.pc - 1 : group.pc];
      warp->fail_in(code, fault::deadlock,
                    at_barrier ? "waits at a barrier that other threads of the block never reach"
                               : "waits for lanes of its mask that never reach this instruction",
                    lane, op);
    }
  throw failure(fault::deadlock, "threads are left that cannot run");
}

std::uint64_t run_blocks(launch_state const& launch)
{
  block_queue queue(launch);
  auto const threads = std::min<std::uint64_t>(std::max(std::thread::hardware_concurrency(), 1U),
                                               launch.grid.count());
  {
    std::vector<std::jthread> helpers;
    for (std::uint64_t i = 1; i < threads; ++i) helpers.emplace_back([&queue] { queue.work(); });
    queue.work();
  }
  return queue.result();
}

}  // namespace fatlink::interpreter
