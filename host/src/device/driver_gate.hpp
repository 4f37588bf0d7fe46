// SPDX-License-Identifier: Apache-2.0
// Orders calls of the CUDA driver. The driver has a lock that launches, copies, fills and records
// of events share. Loads and unloads of code, allocations that are not stream-ordered, and the
// creation of streams, events and textures take it exclusively. The lock is not fair: while eight
// threads launched without a break, loads, allocations and creations waited for as long as they did
// (driver 580). So shared calls wait briefly for an exclusive one, and that one briefly for those
// in progress. A gate affects only timing: it may let any call through at any time. In a child of
// fork calls may wait for ones of the parent, up to their limits. Threads: safe.
#pragma once

#include <atomic>
#include <chrono>

namespace fatlink::detail {

class driver_gate {
 public:
  using duration = std::chrono::microseconds;

  /// The one that all devices of the process share.
  static driver_gate& of_process() noexcept;

  /// `limit`: how long calls wait for others at most, or 5 times as long where one may block.
  /// `pause`: of a shared call after the exclusive ones have made no progress for so long; it grows
  /// with their wait, to 1 ms or `pause`, whichever is more.
  explicit driver_gate(duration limit = duration(200), duration pause = duration(30)) noexcept
      : limit_(limit), pause_(pause)
  {
  }

 private:
  /// Where calls of one kind pass. They count themselves while they are in progress.
  struct door {
    std::atomic<unsigned> inside = 0;
    std::atomic<unsigned> closers = 0;  ///< exclusive calls that keep it closed
  };

  /// A call that shares the lock.
  class counted_call {
   public:
    ~counted_call() { door_.inside.fetch_sub(1, std::memory_order_release); }
    counted_call(counted_call const&) = delete;
    counted_call& operator=(counted_call const&) = delete;

   protected:
    counted_call(driver_gate& gate, door& entrance, duration limit) noexcept : door_(entrance)
    {
      door_.inside.fetch_add(1);
      if (door_.closers.load() != 0) gate.wait_outside(door_, limit);
    }

   private:
    door& door_;
  };

 public:
  /// Driver calls that share the lock and return soon, from construction to destruction. The
  /// constructor lets one exclusive call go first.
  class shared_call : public counted_call {
   public:
    explicit shared_call(driver_gate& gate = of_process()) noexcept
        : counted_call(gate, gate.shared_, gate.limit_)
    {
    }
  };

  /// The same for calls that may wait for the GPU with the lock, as copies to and from memory that
  /// is not page-locked do.
  class blocking_call : public counted_call {
   public:
    explicit blocking_call(driver_gate& gate = of_process()) noexcept
        : counted_call(gate, gate.blocking_, k_blocking_limits * gate.limit_)
    {
    }
  };

  /// Driver calls that take the lock exclusively. The constructor waits for another such call (5
  /// limits at most), then, while shared ones go on, for blocking calls in progress (5 limits), and
  /// then for shared ones (1 limit), so that the driver need not put the thread to sleep. Do not
  /// create one while the same thread has another call object: it would wait for that one.
  class exclusive_call {
   public:
    explicit exclusive_call(driver_gate& gate = of_process()) noexcept
        : gate_(gate), is_leading_(gate.begin_exclusive())
    {
    }
    ~exclusive_call() { gate_.end_exclusive(is_leading_); }
    exclusive_call(exclusive_call const&) = delete;
    exclusive_call& operator=(exclusive_call const&) = delete;

   private:
    driver_gate& gate_;
    bool is_leading_;
  };

 private:
  using clock = std::chrono::steady_clock;

  static constexpr int k_blocking_limits = 5;

  /// Whether the other exclusive calls wait for this one; not if it stopped waiting for another.
  [[nodiscard]] bool begin_exclusive() noexcept;
  void end_exclusive(bool is_leading) noexcept;
  void close(door& entrance, duration limit) noexcept;
  void wait_outside(door& entrance, duration limit) noexcept;
  [[nodiscard]] clock::duration longest_wait(duration limit, clock::time_point now) const noexcept;

  duration limit_;
  duration pause_;
  door shared_;
  door blocking_;
  std::atomic<bool> has_leading_ = false;  ///< an exclusive call that the others wait for
  std::atomic<unsigned> ended_ = 0;        ///< exclusive calls, until now
  std::atomic<clock::rep> progress_ = 0;   ///< when one last closed a door or ended
};

}  // namespace fatlink::detail
