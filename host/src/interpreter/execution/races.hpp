// SPDX-License-Identifier: Apache-2.0
// Detects two threads of a launch that access the same byte without synchronisation: two writes,
// and in shared memory also a write and a later read. For each byte it records the last writer and
// the time, by the block's clock, which counts synchronisations. Two accesses are ordered if they
// are by the same thread, if a barrier of the block, or a bar.warp.sync of the warp, separates
// them, or if the first thread, or one that it met at a barrier, changed a value by an atomic or
// volatile access before the second thread, or one that it met, read by one. Which value, and
// whether there is a fence, is not checked. Atomic and volatile accesses are no races themselves.
// Memory: 8 bytes for each byte of every allocation that is written. Threads: safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "interpreter/decode/operation.hpp"

namespace fatlink::interpreter {

struct region;
class warp;

class race_map {
 public:
  /// Records a write of `size` bytes at `offset` of `region` by a lane of `writer`.
  /// @throws failure (race) naming both threads.
  void record(region const& region, std::uint64_t offset, unsigned size, warp& writer,
              unsigned lane, operation const& op);
  /// Records a write to the block's shared memory, whose `map` belongs to the block.
  void record_shared(std::atomic<std::uint64_t>* map, std::uint64_t offset, unsigned size,
                     warp& writer, unsigned lane, operation const& op);
  /// Held during an atomic or volatile access and synchronise().
  [[nodiscard]] std::unique_lock<std::mutex> lock_order() { return std::unique_lock(mutex_); }
  /// Checks a read from `source`, a host address, if it is in the block's shared memory.
  void check_read(std::byte const* source, unsigned size, warp& reader, unsigned lane,
                  operation const& op);
  /// Tells that a lane read (`acquires`) or changed (`releases`) a value by an atomic or volatile
  /// access.
  void synchronise(warp& warp, unsigned lane, bool acquires, bool releases);

 private:
  /// When a thread, or a block, released what it had written before `clock`.
  struct release {
    std::uint64_t clock = 0;  ///< of the block
    std::uint64_t time = 0;
  };
  struct history {
    std::deque<release> releases = {};
    std::uint64_t acquired = 0;  ///< the time of the last one; of a block, before its last barrier
    std::uint64_t recent = 0;    ///< of a block: since its last barrier
    std::uint64_t recent_clock = 0;
  };

  static void add_release(history& history, std::uint64_t clock, std::uint64_t time);
  static void settle(history& history, warp const& warp);
  bool in_order(std::uint64_t earlier, warp const& warp, std::uint64_t thread);
  bool is_acquired(std::uint64_t writer, std::uint64_t clock, warp const& warp,
                   std::uint64_t thread);

  std::mutex mutex_;
  std::uint64_t time_ = 0;
  std::unordered_map<std::uint64_t, history> threads_;  ///< by the number in the launch
  std::unordered_map<std::uint64_t, history> blocks_;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::atomic<std::uint64_t>[]>> maps_;
};

}  // namespace fatlink::interpreter
