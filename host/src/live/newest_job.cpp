// SPDX-License-Identifier: Apache-2.0
#include "live/newest_job.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "live/background_thread.hpp"

namespace fatlink::detail {

/// Shared with the thread, which may outlive a newest_job that a job destroys.
struct newest_job::state {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> waiting;
  bool is_working = false;
  bool is_ending = false;
  std::optional<background_thread> thread;

  void work()
  {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_ending || waiting; });
      if (is_ending) return;
      auto job = std::exchange(waiting, nullptr);
      is_working = true;
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
      is_working = false;
      changed.notify_all();
    }
  }
};

newest_job::newest_job() : state_(std::make_shared<state>()) {}

newest_job::~newest_job()
{
  if (!state_->thread) return;
  if (state_->thread->exists()) {
    std::lock_guard const lock(state_->mutex);
    state_->is_ending = true;
    state_->waiting = nullptr;
  }
  state_->changed.notify_all();
  state_->thread->join();
}

void newest_job::start_thread()
{
  std::lock_guard const lock(state_->mutex);
  if (!state_->thread) state_->thread.emplace([owned = state_] { owned->work(); });
}

void newest_job::start(std::function<void()> job) noexcept
{
  std::lock_guard const lock(state_->mutex);
  state_->waiting = std::move(job);
  state_->changed.notify_all();
}

void newest_job::wait() const
{
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->waiting && !state_->is_working; });
}

}  // namespace fatlink::detail
