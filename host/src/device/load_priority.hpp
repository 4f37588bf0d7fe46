// SPDX-License-Identifier: Apache-2.0
// Lets loads of modules on GPUs get the driver's lock. The driver loads, looks up and unloads code
// under a lock that launches, copies and fills of all threads share. The lock is not fair: while
// several threads use a GPU without a break, a load can wait indefinitely (driver 580, eight
// threads: a load did not end within minutes). So such work pauses, for a short time, while a load
// makes no progress. Threads: safe.
#pragma once

#include <atomic>
#include <chrono>

namespace fatlink::detail {

class load_priority {
 public:
  using duration = std::chrono::microseconds;

  /// The one that all devices of the process share.
  static load_priority& of_process() noexcept;

  /// `delay`: how long no load of the process begins or ends before work pauses. `pause`: of one
  /// call of work at first; it grows with the wait, to 1 ms or `pause`, whichever is more.
  explicit load_priority(duration delay = duration(300), duration pause = duration(30)) noexcept
      : delay_(delay), pause_(pause)
  {
  }

  /// Driver calls that load, look up or unload code, from construction to destruction.
  class load {
   public:
    explicit load(load_priority& priority = of_process()) noexcept : priority_(priority)
    {
      priority_.note_progress();
      priority_.loads_.fetch_add(1);
    }
    ~load()
    {
      priority_.note_progress();
      priority_.loads_.fetch_sub(1);
    }
    load(load const&) = delete;
    load& operator=(load const&) = delete;

   private:
    load_priority& priority_;
  };

  /// Called before a launch, copy or fill.
  void yield_to_loads() const noexcept
  {
    if (loads_.load(std::memory_order_acquire) != 0) pause_if_starved();
  }

 private:
  using clock = std::chrono::steady_clock;

  void note_progress() noexcept { progress_ = clock::now().time_since_epoch().count(); }
  void pause_if_starved() const noexcept;

  duration delay_;
  duration pause_;
  std::atomic<unsigned> loads_ = 0;       ///< in progress
  std::atomic<clock::rep> progress_ = 0;  ///< when a load last began or ended
};

}  // namespace fatlink::detail
