// SPDX-License-Identifier: Apache-2.0
// Who calls the CUDA driver first. The driver has a lock that launches, copies, fills and records
// of events share; loads and unloads of code, allocations, and the creation of streams and events
// take it alone. The lock is not fair: while eight threads launched without a break, each of these
// calls waited for as long as they did (driver 580). So calls that share the lock wait for one that
// takes it alone, for a short time. A gate makes no call wrong: it may let any call through at any
// time. Threads: safe.
#pragma once

#include <atomic>
#include <chrono>

namespace fatlink::detail {

class driver_gate {
 public:
  using duration = std::chrono::microseconds;

  /// The one that all devices of the process share.
  static driver_gate& of_process() noexcept;

  /// `turn`: how long calls wait for others at most. `pause`: of a shared call after the exclusive
  /// ones have made no progress for a turn; it grows with their wait, to 1 ms or `pause`, whichever
  /// is more.
  explicit driver_gate(duration turn = duration(200), duration pause = duration(30)) noexcept
      : turn_(turn), pause_(pause)
  {
  }

  /// Driver calls that take the lock alone, from construction to destruction. The constructor waits
  /// for shared calls in progress, so that the driver need not put the thread to sleep. Not within
  /// a shared call of the same thread, for which it would wait.
  class exclusive_call {
   public:
    explicit exclusive_call(driver_gate& gate = of_process()) noexcept : gate_(gate)
    {
      gate_.begin_exclusive();
    }
    ~exclusive_call() { gate_.end_exclusive(); }
    exclusive_call(exclusive_call const&) = delete;
    exclusive_call& operator=(exclusive_call const&) = delete;

   private:
    driver_gate& gate_;
  };

  /// Driver calls that share the lock. The constructor lets one exclusive call go first.
  class shared_call {
   public:
    explicit shared_call(driver_gate& gate = of_process()) noexcept : gate_(gate)
    {
      gate_.shared_.fetch_add(1);
      if (gate_.exclusive_.load() == 0) return;
      gate_.shared_.fetch_sub(1);
      gate_.wait_for_exclusive();
      gate_.shared_.fetch_add(1);
    }
    ~shared_call() { gate_.shared_.fetch_sub(1, std::memory_order_release); }
    shared_call(shared_call const&) = delete;
    shared_call& operator=(shared_call const&) = delete;

   private:
    driver_gate& gate_;
  };

  /// Before driver calls that share the lock and may wait for the GPU, such as copies from the
  /// host's memory: lets one exclusive call go first. Those that follow do not wait for the copy.
  void let_exclusive_pass() noexcept
  {
    if (exclusive_.load() != 0) wait_for_exclusive();
  }

 private:
  using clock = std::chrono::steady_clock;

  void begin_exclusive() noexcept;
  void end_exclusive() noexcept;
  void wait_for_exclusive() noexcept;
  void note_progress() noexcept { progress_ = clock::now().time_since_epoch().count(); }
  [[nodiscard]] clock::duration longest_pause(clock::time_point now) const noexcept;

  duration turn_;
  duration pause_;
  std::atomic<unsigned> shared_ = 0;      ///< in progress
  std::atomic<unsigned> exclusive_ = 0;   ///< in progress
  std::atomic<unsigned> ended_ = 0;       ///< exclusive ones, until now
  std::atomic<clock::rep> progress_ = 0;  ///< when an exclusive one last began or ended
};

}  // namespace fatlink::detail
