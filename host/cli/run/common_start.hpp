// SPDX-License-Identifier: Apache-2.0
// Where the threads of several devices wait for each other before measured launches. A thread that
// fails does not stop the others. Threads: safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace fatlink::cli {

/// A barrier whose members may leave.
class common_start {
 public:
  explicit common_start(std::size_t members) : members_(members) {}

  /// Waits until every member waits or has left.
  void wait()
  {
    std::unique_lock lock(mutex_);
    auto const round = round_;
    ++waiting_;
    start_if_complete();
    started_.wait(lock, [&] { return round_ != round; });
  }

  /// Removes this member.
  void leave()
  {
    std::lock_guard const lock(mutex_);
    --members_;
    start_if_complete();
  }

 private:
  void start_if_complete()
  {
    if (waiting_ == 0 || waiting_ < members_) return;
    waiting_ = 0;
    ++round_;
    started_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable started_;
  std::size_t members_;
  std::size_t waiting_ = 0;
  std::size_t round_ = 0;
};

}  // namespace fatlink::cli
