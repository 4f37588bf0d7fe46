// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a launch: one block, a cluster of them, and all of them on all cores of the
// host.
#include "interpreter/execution/block.hpp"

#include <bit>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/lanes.hpp"
#include "util/process/cancel_check.hpp"
#include "util/process/parallel.hpp"

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

namespace {

// Clusters.

/// The number in the grid of the block at `inner` of cluster `outer`.
std::uint64_t block_number(launch_state const& launch, dimensions const& outer,
                           dimensions const& inner) noexcept
{
  auto const& size = launch.cluster;
  auto const x = std::uint64_t{outer.x} * size.x + inner.x;
  auto const y = std::uint64_t{outer.y} * size.y + inner.y;
  auto const z = std::uint64_t{outer.z} * size.z + inner.z;
  return (z * launch.grid.y + y) * launch.grid.x + x;
}

}  // namespace

cluster::cluster(launch_state const& launch) : launch_(launch), states_(launch.cluster.count())
{
  for (std::size_t rank = 0; rank < states_.size(); ++rank)
    blocks_.push_back(std::make_unique<block>(launch, *this, static_cast<std::uint32_t>(rank)));
}

void cluster::start(std::uint64_t index)
{
  auto const& size = launch_.cluster;
  dimensions const clusters{launch_.grid.x / size.x, launch_.grid.y / size.y,
                            launch_.grid.z / size.z};
  auto const outer = place_in(clusters, index);
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    blocks_[rank]->start(block_number(launch_, outer, place_in(size, rank)));
    states_[rank] = block_state::runs;
  }
}

block_state cluster::step()
{
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    if (states_[rank] == block_state::ended) continue;
    running_block_ = blocks_[rank]->linear_index();
    states_[rank] = blocks_[rank]->step();
  }
  if (release_barrier()) return block_state::runs;
  auto const has = [this](block_state state) {
    return std::find(states_.begin(), states_.end(), state) != states_.end();
  };
  if (has(block_state::runs)) return block_state::runs;
  if (has(block_state::waits)) return block_state::waits;
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank)
    if (states_[rank] == block_state::waits_for_cluster) {
      running_block_ = blocks_[rank]->linear_index();
      blocks_[rank]->fail_deadlock();
    }
  return block_state::ended;
}

/// Once every live thread has arrived at the cluster's barrier, lets all continue.
bool cluster::release_barrier()
{
  auto const is_complete = [](auto const& block) { return block->all_at_cluster_barrier(); };
  auto const has_arrived = [](auto const& block) { return block->any_at_cluster_barrier(); };
  if (!std::all_of(blocks_.begin(), blocks_.end(), is_complete)) return false;
  if (!std::any_of(blocks_.begin(), blocks_.end(), has_arrived)) return false;
  for (auto& block : blocks_) block->release_cluster_barrier();
  return true;
}

std::uint64_t cluster::executed() const noexcept
{
  std::uint64_t sum = 0;
  for (auto const& block : blocks_) sum += block->executed();
  return sum;
}

shared_place cluster::place(std::uint64_t offset, std::uint64_t size) noexcept
{
  auto const rank = (offset >> k_rank_at) - 1;  // of its own block: none
  if (rank >= blocks_.size()) return {};
  auto& block = *blocks_[rank];
  auto const inner = offset & ((std::uint64_t{1} << k_rank_at) - 1);
  if (size > block.shared_bytes() || inner > block.shared_bytes() - size) return {};
  return {&block, inner};
}

namespace {

/// Runs the blocks of a launch on all cores of the host, or in order on one, by clusters, which are
/// most often one block. A cluster that waits for another one is parked, and its host thread runs
/// others meanwhile: at most launch_state::max_resident blocks have started and not ended at a
/// time, as on a GPU.
class block_queue {
 public:
  explicit block_queue(launch_state const& launch)
      : launch_(launch), count_(launch.grid.count()), size_(launch.cluster.count())
  {
  }

  void work() noexcept
  {
    ++working_;
    std::unique_ptr<cluster> current;
    auto state = block_state::ended;
    try {
      while (take(current, state)) state = current->step();
    } catch (stopped const&) {
    } catch (...) {
      fail(current == nullptr ? 0 : current->running_block(), std::current_exception());
    }
    if (current != nullptr) executed_ += current->executed();
    std::lock_guard const lock(mutex_);
    --working_;
    changed_.notify_all();
  }

  /// Waits for the other threads that work, and asks meanwhile whether the launch is cancelled.
  void wait_for_others() noexcept
  {
    try {
      std::unique_lock lock(mutex_);
      while (working_ != 0) wait(lock);
    } catch (...) {
      fail(0, std::current_exception());
    }
  }

  std::uint64_t result()
  {
    if (failure_) std::rethrow_exception(failure_);
    return executed_;
  }

 private:
  /// Replaces `current`, in `state`, by the next block to run; false: there is none.
  bool take(std::unique_ptr<cluster>& current, block_state state)
  {
    if (launch_.stop) return false;
    detail::throw_if_cancelled(stage::device);
    if (state == block_state::ended) {
      if (current != nullptr) resident_ -= size_;
      return take_parked(current) || start_next(current) || wait_for_parked(current);
    }
    if (state == block_state::waits && resident_ + size_ <= launch_.max_resident && has_next()) {
      park(current);
      if (start_next(current)) return true;
    }
    if (state == block_state::waits) std::this_thread::yield();
    return exchange_parked(current) || wait_for_parked(current);
  }

  [[nodiscard]] bool has_next() const noexcept { return launch_.started < count_; }

  /// Starts the next cluster of the grid in `current`, or in a new object.
  bool start_next(std::unique_ptr<cluster>& current)
  {
    if (!has_next()) return false;
    launch_.activity.add(size_);
    auto const index = launch_.started.fetch_add(size_);
    if (index >= count_) {
      launch_.activity.remove(size_);
      return false;
    }
    resident_ += size_;
    if (current == nullptr) current = std::make_unique<cluster>(launch_);
    current->start(index / size_);
    return true;
  }

  void park(std::unique_ptr<cluster>& current)
  {
    std::lock_guard const lock(mutex_);
    parked_.push_back(std::move(current));
    parked_count_ = parked_.size();
    changed_.notify_one();
  }

  /// Replaces `current`, which has ended, by the block that is parked for the longest time.
  bool take_parked(std::unique_ptr<cluster>& current)
  {
    if (parked_count_ == 0) return false;
    std::lock_guard const lock(mutex_);
    return pop(current);
  }

  bool pop(std::unique_ptr<cluster>& current)
  {
    if (parked_.empty()) return false;
    if (current != nullptr) executed_ += current->executed();
    current = std::move(parked_.front());
    parked_.pop_front();
    parked_count_ = parked_.size();
    return true;
  }

  /// Parks `current`, or runs it on if no other block is parked.
  bool exchange_parked(std::unique_ptr<cluster>& current)
  {
    std::lock_guard const lock(mutex_);
    if (current != nullptr) parked_.push_back(std::move(current));
    return pop(current);
  }

  bool wait_for_parked(std::unique_ptr<cluster>& current)
  {
    std::unique_lock lock(mutex_);
    while (!launch_.stop && resident_ != 0) {
      if (pop(current)) return true;
      wait(lock);
    }
    changed_.notify_all();
    return false;
  }

  /// Waits for a change. @throws cancelled_error
  void wait(std::unique_lock<std::mutex>& lock)
  {
    if (!detail::may_be_cancelled()) return changed_.wait(lock);
    changed_.wait_for(lock, detail::k_ask_interval);
    lock.unlock();
    detail::throw_if_cancelled(stage::device);
    lock.lock();
  }

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
  std::uint64_t size_;  ///< blocks of a cluster
  std::atomic<std::uint64_t> resident_ = 0;
  std::atomic<std::uint64_t> executed_ = 0;
  std::atomic<std::size_t> parked_count_ = 0;
  std::atomic<unsigned> working_ = 0;  ///< threads in work()
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<cluster>> parked_;
  std::exception_ptr failure_;
  std::uint64_t failed_index_ = 0;
};

}  // namespace

std::uint64_t run_blocks(launch_state const& launch)
{
  block_queue queue(launch);
  auto const cores = launch.in_order ? 1U : std::max(std::thread::hardware_concurrency(), 1U);
  auto const threads = std::min<std::uint64_t>(cores, launch.grid.count());
  auto const work = [&queue] { queue.work(); };
  {
    auto const helpers = detail::start_helpers(threads - 1, work);
    work();
    queue.wait_for_others();
  }
  return queue.result();
}

}  // namespace fatlink::interpreter
