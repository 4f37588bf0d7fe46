// SPDX-License-Identifier: Apache-2.0
// Where the threads of several devices wait for their turn to write, in the order of the devices.
// A thread that fails does not stop the others. Threads: safe.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace fatlink::cli {

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

/// The turn of a device's thread: it is over when the thread ends, however that is.
class write_turn {
 public:
  write_turn(write_order& order, std::size_t member) : order_(order), member_(member) {}
  ~write_turn() { order_.finish(member_); }
  write_turn(write_turn const&) = delete;
  write_turn& operator=(write_turn const&) = delete;

  /// Waits until all members before this one are done.
  void wait() { order_.wait(member_); }

 private:
  write_order& order_;
  std::size_t member_;
};

}  // namespace fatlink::cli
