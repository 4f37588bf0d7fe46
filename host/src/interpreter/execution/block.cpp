// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/block.hpp"

#include <algorithm>
#include <bit>

#include "interpreter/decode/alignment.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

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

/// Of a block: static, dynamic, and reserved shared memory, whose contents the system sets.
std::uint64_t all_shared_bytes(launch_state const& launch) noexcept
{
  constexpr std::uint64_t k_alignment = 16;
  auto const bytes = std::uint64_t{launch.static_shared} + launch.dynamic_shared;
  if (!launch.has_reserved_shared) return bytes;
  return aligned(bytes, k_alignment) + k_reserved_shared_bytes;
}

}  // namespace

block::block(launch_state const& launch, cluster& cluster, std::uint32_t rank)
    : launch_(launch),
      cluster_(cluster),
      rank_(rank),
      shared_bytes_(all_shared_bytes(launch)),
      shared_((shared_bytes_ + 7) / 8)
{
  auto const threads = launch.block.count();
  for (std::uint64_t i = 0; i < threads; i += k_lanes) warps_.push_back(std::make_unique<warp>());
}

block::~block() = default;

dimensions block::thread(unsigned warp_index, unsigned lane) const noexcept
{
  return place_in(launch_.block, std::uint64_t{warp_index} * k_lanes + lane);
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

void block::start(std::uint64_t index)
{
  linear_ = index;
  index_ = place_in(launch_.grid, index);
  barriers_ = {};
  if (launch_.races != nullptr) shared_history_ = byte_histories(shared_bytes_);
  if (launch_.checks_initialization)
    written_.reset(shared_bytes_,
                   shared_bytes_ - (launch_.has_reserved_shared ? k_reserved_shared_bytes : 0));
  clock = 1;
  last_barrier = 0;
  accesses = acquired = 0;
  auto remaining = static_cast<unsigned>(launch_.block.count());
  for (unsigned i = 0; i < warps_.size(); ++i) {
    auto const lanes = std::min(remaining, k_lanes);
    remaining -= lanes;
    warps_[i]->start(launch_, *this, i, k_all_lanes >> (k_lanes - lanes), *launch_.entry);
  }
  is_waiting_ = false;
  confirmed_.reset();
}

/// Gives each warp a turn. Returns whether a warp could run on. `progress`: set if a warp did more
/// than wait.
bool block::run_warps(bool& progress)
{
  bool runs_on = false;
  for (auto& warp : warps_) {
    bool has_run = false;
    auto const end = warp->run(has_run);
    runs_on |= end != turn_end::waits;
    progress |= has_run && end != turn_end::polled;
  }
  return runs_on;
}

block_state block::step()
{
  constexpr unsigned k_rounds = 64;  // of turns, until other blocks run
  // A group that polls may keep others of its warp from their turns.
  auto const most_idle_rounds = is_waiting_ ? 1U : 4U;
  auto const epoch = launch_.activity.epoch();
  launch_is_idle_ = is_waiting_ && launch_.activity.is_idle();
  unsigned idle_rounds = 0;
  for (unsigned round = 0; round < k_rounds; ++round) {
    bool progress = false;
    auto const runs_on = run_warps(progress);
    auto const released = release_barriers();
    if (!runs_on && !released) return end_or_wait();
    idle_rounds = progress || released ? 0 : idle_rounds + 1;
    if (idle_rounds == 0) set_waiting(false);
    if (idle_rounds < most_idle_rounds) continue;
    if (is_waiting_) confirm(epoch);
    set_waiting(true);
    return block_state::waits;
  }
  return block_state::runs;
}

/// For a block of which no thread can run: all have ended, or wait for the cluster.
block_state block::end_or_wait()
{
  if (live_threads() == 0) {
    launch_.activity.remove(1);
    return block_state::ended;
  }
  if (!waits_for_cluster()) fail_deadlock();
  set_waiting(true);
  confirm(launch_.activity.epoch());
  return block_state::waits_for_cluster;
}

void block::set_waiting(bool is_waiting) noexcept
{
  if (is_waiting_ == is_waiting) return;
  is_waiting_ = is_waiting;
  if (!is_waiting) launch_is_idle_ = false;
  launch_.activity.change();
}

void block::confirm(std::uint32_t epoch) noexcept
{
  if (confirmed_ == epoch) return;
  confirmed_ = epoch;
  launch_.activity.confirm(epoch);
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
      warp->acquire_accesses(sync_scope::block);
      if (group.barrier_result != nullptr) write_barrier_result(group, completed);
      group.barrier_result = nullptr;
    }
}

bool block::waits_for_cluster() const noexcept
{
  for (auto const& warp : warps_)
    for (auto const& group : warp->waiting())
      if (group.state == group_state::at_barrier && group.barrier == k_cluster_barrier) return true;
  return false;
}

bool block::all_at_cluster_barrier() const noexcept
{
  return std::all_of(warps_.begin(), warps_.end(), [](auto const& warp) {
    return (warp->live() & ~warp->cluster_arrivals) == 0;
  });
}

bool block::any_at_cluster_barrier() const noexcept
{
  return std::any_of(warps_.begin(), warps_.end(),
                     [](auto const& warp) { return warp->cluster_arrivals != 0; });
}

void block::release_cluster_barrier()
{
  set_waiting(false);
  last_barrier = ++clock;
  for (auto& warp : warps_) {
    warp->cluster_arrivals = 0;
    warp->acquire_accesses();
    for (auto& group : warp->waiting())
      if (group.state == group_state::at_barrier && group.barrier == k_cluster_barrier)
        group.state = group_state::ready;
  }
}

}  // namespace fatlink::interpreter
