// SPDX-License-Identifier: Apache-2.0
// Threads that work for an object without the host's knowledge. The host's signals are not
// delivered to them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <thread>

namespace fatlink::detail {

/// One thread. Threads: one at a time.
class background_thread {
 public:
  /// Calls `work`, which throws nothing. @throws std::system_error the system starts no thread.
  explicit background_thread(std::function<void()> work);
  ~background_thread() { join(); }
  background_thread(background_thread const&) = delete;
  background_thread& operator=(background_thread const&) = delete;

  /// Whether there is a thread: a process that was forked from the one that started it has none.
  [[nodiscard]] bool exists() const noexcept;
  /// Whether `work` itself calls this.
  [[nodiscard]] bool is_current() const noexcept;
  /// Waits for the end of `work`; where `work` itself calls this, or there is no thread, does not.
  void join() noexcept;

 private:
  pid_t process_;
  std::thread thread_;
};

/// A background thread that does one job at a time, and of those that wait only the newest. The
/// thread starts when the first job is near. Threads: safe.
class newest_job {
 public:
  newest_job();
  /// Drops a job that has not begun; waits for the one that has, unless that calls this.
  ~newest_job();
  newest_job(newest_job const&) = delete;
  newest_job& operator=(newest_job const&) = delete;

  /// Starts the thread, unless there is one. @throws std::system_error the system starts none.
  void start_thread();
  /// Does `job`, which throws nothing, after the one that has begun, instead of the one that waits.
  /// After start_thread().
  void start(std::function<void()> job) noexcept;

  /// Waits until there is no job.
  void wait() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace fatlink::detail
