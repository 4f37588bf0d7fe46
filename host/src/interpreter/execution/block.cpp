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

dimensions unflatten(std::uint64_t index, dimensions const& of) noexcept
{
  return {static_cast<std::uint32_t>(index % of.x), static_cast<std::uint32_t>(index / of.x % of.y),
          static_cast<std::uint32_t>(index / of.x / of.y)};
}

/// Writes the result of `released`'s bar.red, for which it waited.
void write_barrier_result(group const& released, barrier const& completed) noexcept
{
  auto const& op = *released.barrier_result;
  auto& frame = *released.in;
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

/// What the workers of a launch share.
class block_queue {
 public:
  explicit block_queue(launch_state const& launch) : launch_(launch), count_(launch.grid.count()) {}

  void work() noexcept
  {
    std::uint64_t at = 0;
    try {
      block mine(launch_);
      while (!launch_.stop && (at = next_++) < count_) mine.run(at);
      executed_ += mine.executed();
    } catch (stopped const&) {
    } catch (...) {
      fail(at, std::current_exception());
    }
  }

  std::uint64_t result()
  {
    if (failure_) std::rethrow_exception(failure_);
    return executed_;
  }

 private:
  void fail(std::uint64_t at, std::exception_ptr why) noexcept
  {
    std::lock_guard const lock(mutex_);
    launch_.stop = true;
    if (failure_ && failed_at_ < at) return;
    failure_ = std::move(why);
    failed_at_ = at;
  }

  launch_state const& launch_;
  std::uint64_t count_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> executed_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::uint64_t failed_at_ = 0;
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

dimensions block::thread(unsigned of, unsigned lane) const noexcept
{
  return unflatten(std::uint64_t{of} * k_lanes + lane, launch_.block);
}

std::uint64_t block::executed() const noexcept
{
  std::uint64_t sum = 0;
  for (auto const& one : warps_) sum += one->executed;
  return sum;
}

std::uint32_t block::live_threads() const noexcept
{
  int sum = 0;
  for (auto const& one : warps_) sum += std::popcount(one->live());
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
  auto left = static_cast<unsigned>(launch_.block.count());
  for (unsigned i = 0; i < warps_.size(); ++i) {
    auto const lanes = std::min(left, k_lanes);
    left -= lanes;
    warps_[i]->start(launch_, *this, i, k_all_lanes >> (k_lanes - lanes), *launch_.entry);
  }
  do {
    for (auto& one : warps_) one->run();
  } while (release_barriers());
  if (live_threads() != 0) fail_deadlock();
}

bool block::release_barriers()
{
  bool any = false;
  for (unsigned i = 0; i < k_barriers; ++i) {
    auto const& at = barriers_[i];
    if (at.arrived == 0) continue;
    auto const expected = at.expected != 0 ? at.expected : live_threads();
    if (at.arrived < expected) continue;
    release(i);
    any = true;
  }
  return any;
}

void block::release(unsigned number)
{
  auto const done = barriers_[number];
  barriers_[number] = {};
  ++clock;
  if (done.expected == 0 || done.expected >= live_threads()) last_barrier = clock;
  for (auto& one : warps_)
    for (auto& waiting : one->waiting()) {
      if (waiting.is != group::state::at_barrier || waiting.barrier != number) continue;
      waiting.is = group::state::ready;
      if (waiting.barrier_result != nullptr) write_barrier_result(waiting, done);
      waiting.barrier_result = nullptr;
    }
}

void block::fail_deadlock()
{
  for (auto& one : warps_)
    for (auto const& waiting : one->waiting()) {
      auto const lane = static_cast<unsigned>(std::countr_zero(waiting.lanes));
      auto const at_barrier = waiting.is == group::state::at_barrier;
      auto const& operations = waiting.in->code->operations;
      auto const& op = operations[at_barrier && waiting.pc > 0 ? waiting.pc - 1 : waiting.pc];
      one->fail_in(*waiting.in->code, fault::deadlock,
                   at_barrier ? "waits at a barrier that other threads of the block never reach"
                              : "waits for lanes of its mask that never reach this instruction",
                   lane, op);
    }
  throw failure(fault::deadlock, "threads are left that nothing can run");
}

std::uint64_t run_blocks(launch_state const& launch)
{
  block_queue queue(launch);
  auto const workers = std::min<std::uint64_t>(std::max(std::thread::hardware_concurrency(), 1U),
                                               launch.grid.count());
  {
    std::vector<std::jthread> others;
    for (std::uint64_t i = 1; i < workers; ++i) others.emplace_back([&queue] { queue.work(); });
    queue.work();
  }
  return queue.result();
}

}  // namespace fatlink::interpreter
