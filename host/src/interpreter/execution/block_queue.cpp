// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a launch on all cores of the host, or in order on one, by clusters, which are
// most often one block. A cluster that waits for another one is parked, and its host thread runs
// others meanwhile: at most launch_state::max_resident blocks have started and not ended at a time,
// as on a GPU.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/cluster.hpp"
#include "util/process/cancel_check.hpp"
#include "util/process/parallel.hpp"

namespace fatlink::interpreter {
namespace {

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
