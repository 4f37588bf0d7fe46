// SPDX-License-Identifier: Apache-2.0
// Where the threads of several devices wait for each other: before measured launches, and for their
// turn to write. A thread that fails does not stop the others. Threads: safe.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace fatlink::cli {

/// Lets all members that are left go on together.
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

  /// This member does not come again.
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

/// Lets members write one after the other, in the order of their numbers from 0.
class write_order {
 public:
  explicit write_order(std::size_t members) : is_done_(members) {}

  /// Waits until all members before `member` are done.
  void wait(std::size_t member)
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] {
      return std::all_of(is_done_.begin(), is_done_.begin() + static_cast<std::ptrdiff_t>(member),
                         [](bool is_done) { return is_done; });
    });
  }

  /// `member` writes no more, or nothing.
  void finish(std::size_t member)
  {
    std::lock_guard const lock(mutex_);
    is_done_[member] = true;
    done_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<bool> is_done_;
};

}  // namespace fatlink::cli
