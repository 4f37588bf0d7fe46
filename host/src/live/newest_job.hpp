// SPDX-License-Identifier: Apache-2.0
// A background thread that does one job at a time, and of those that wait only the newest. The
// thread starts when the first job is near. Threads: safe.
#pragma once

#include <functional>
#include <memory>

namespace fatlink::detail {

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
