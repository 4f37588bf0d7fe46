// SPDX-License-Identifier: Apache-2.0
// Lets work on a GPU give way to loads of modules. The driver loads and unloads under a lock that
// launches, copies and fills of all threads of the process share, and that gives no turns: where
// several threads use the GPU without a break, a load may wait for ever (driver 580, eight threads:
// a load did not end within minutes). So work pauses, for a short time, while a driver call of a
// load has lasted longer than such calls take. Threads: safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace fatlink::detail {

class load_turns {
 public:
  using duration = std::chrono::microseconds;

  /// Those of all devices of the process.
  static load_turns& of_process() noexcept;

  /// `patience`: how long a load lasts before work pauses. `pause`: of one launch or copy, at most.
  explicit load_turns(duration patience = duration(300), duration pause = duration(30)) noexcept
      : patience_(patience), pause_(pause)
  {
  }

  /// The driver calls of a load or unload, from construction to destruction.
  class load {
   public:
    explicit load(load_turns& turns) noexcept : turns_(turns)
    {
      turns_.note_progress();
      turns_.loads_.fetch_add(1);
    }
    ~load()
    {
      turns_.note_progress();
      turns_.loads_.fetch_sub(1);
    }
    load(load const&) = delete;
    load& operator=(load const&) = delete;

   private:
    load_turns& turns_;
  };

  /// Called before a launch, copy or fill.
  void give_way() const noexcept
  {
    if (loads_.load(std::memory_order_relaxed) != 0) pause_for_load();
  }

 private:
  using clock = std::chrono::steady_clock;

  void note_progress() noexcept { progress_ = clock::now().time_since_epoch().count(); }
  void pause_for_load() const noexcept;

  duration patience_;
  duration pause_;
  std::atomic<unsigned> loads_ = 0;       ///< that have begun and not ended
  std::atomic<clock::rep> progress_ = 0;  ///< when a load last began or ended
};

}  // namespace fatlink::detail
