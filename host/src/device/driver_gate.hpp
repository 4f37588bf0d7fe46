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

  /// `turn`: how long calls wait for others at most, or 5 times as long where one may block.
  /// `pause`: of a shared call after the exclusive ones have made no progress for a turn; it grows
  /// with their wait, to 1 ms or `pause`, whichever is more.
  explicit driver_gate(duration turn = duration(200), duration pause = duration(30)) noexcept
      : turn_(turn), pause_(pause)
  {
  }

 private:
  /// Where calls of one kind pass. They count themselves while they are in progress.
  struct door {
    std::atomic<unsigned> inside = 0;
    std::atomic<unsigned> closers = 0;  ///< exclusive calls that keep it closed
  };

  /// A call that shares the lock.
  class sharing_call {
   public:
    ~sharing_call() { door_.inside.fetch_sub(1, std::memory_order_release); }
    sharing_call(sharing_call const&) = delete;
    sharing_call& operator=(sharing_call const&) = delete;

   protected:
    sharing_call(driver_gate& gate, door& way, duration turn) noexcept : door_(way)
    {
      door_.inside.fetch_add(1);
      if (door_.closers.load() != 0) gate.wait_outside(door_, turn);
    }

   private:
    door& door_;
  };

 public:
  /// Driver calls that share the lock and return soon, from construction to destruction. The
  /// constructor lets one exclusive call go first.
  class shared_call : public sharing_call {
   public:
    explicit shared_call(driver_gate& gate = of_process()) noexcept
        : sharing_call(gate, gate.shared_, gate.turn_)
    {
    }
  };

  /// The same for calls that may wait for the GPU with the lock, as copies to and from memory that
  /// is not page-locked do.
  class blocking_call : public sharing_call {
   public:
    explicit blocking_call(driver_gate& gate = of_process()) noexcept
        : sharing_call(gate, gate.blocking_, k_blocking_turns * gate.turn_)
    {
    }
  };

  /// Driver calls that take the lock alone. The constructor waits for another such call, then,
  /// while shared ones go on, for blocking calls in progress, and then for shared ones, so that the
  /// driver need not put the thread to sleep. Not within a call of the same thread, for which it
  /// would wait.
  class exclusive_call {
   public:
    explicit exclusive_call(driver_gate& gate = of_process()) noexcept
        : gate_(gate), is_first_(gate.begin_exclusive())
    {
    }
    ~exclusive_call() { gate_.end_exclusive(is_first_); }
    exclusive_call(exclusive_call const&) = delete;
    exclusive_call& operator=(exclusive_call const&) = delete;

   private:
    driver_gate& gate_;
    bool is_first_;
  };

 private:
  using clock = std::chrono::steady_clock;

  static constexpr int k_blocking_turns = 5;

  /// Whether no other exclusive call is in progress, or waited for too long.
  [[nodiscard]] bool begin_exclusive() noexcept;
  void end_exclusive(bool is_first) noexcept;
  void close(door& way, duration turn) noexcept;
  void wait_outside(door& way, duration turn) noexcept;
  [[nodiscard]] clock::duration longest_wait(duration turn, clock::time_point now) const noexcept;

  duration turn_;
  duration pause_;
  door shared_;
  door blocking_;
  std::atomic<bool> has_first_ = false;   ///< an exclusive call that the others wait for
  std::atomic<unsigned> ended_ = 0;       ///< exclusive calls, until now
  std::atomic<clock::rep> progress_ = 0;  ///< when one last closed a door or ended
};

}  // namespace fatlink::detail
