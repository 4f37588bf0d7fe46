// SPDX-License-Identifier: Apache-2.0
// Tells when no thread of a launch can run on: when every block that has started and not ended has
// looked at all that it waits for since any of them did more than wait.
// Threads: safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace fatlink::interpreter {

class launch_activity {
 public:
  /// `blocks` blocks are about to start.
  void add(std::uint64_t blocks) noexcept
  {
    live_ += blocks;
    change();
  }
  /// `blocks` blocks have ended, or do not start after all.
  void remove(std::uint64_t blocks) noexcept
  {
    change();
    live_ -= blocks;
  }
  /// A block did, or is about to do, more than wait: others may find what they wait for.
  void change() noexcept
  {
    auto state = state_.load();
    while (!state_.compare_exchange_weak(state, next_epoch(state))) {
    }
  }
  /// Differs after each change.
  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_of(state_); }
  /// A block did nothing but wait since `epoch`. To be called once for each block and epoch.
  void confirm(std::uint32_t epoch) noexcept
  {
    auto state = state_.load();
    while (epoch_of(state) == epoch && !state_.compare_exchange_weak(state, state + 1)) {
    }
  }
  [[nodiscard]] bool is_idle() const noexcept
  {
    return static_cast<std::uint32_t>(state_.load()) == live_;
  }

 private:
  static constexpr std::uint32_t epoch_of(std::uint64_t state) noexcept
  {
    return static_cast<std::uint32_t>(state >> 32U);
  }
  /// Without confirmations.
  static constexpr std::uint64_t next_epoch(std::uint64_t state) noexcept
  {
    return (std::uint64_t{epoch_of(state)} + 1) << 32U;
  }

  std::atomic<std::uint64_t> live_ = 0;   ///< blocks that have started and not ended
  std::atomic<std::uint64_t> state_ = 0;  ///< the epoch, then 32 bits: blocks that confirmed it
};

}  // namespace fatlink::interpreter
