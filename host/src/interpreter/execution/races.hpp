// SPDX-License-Identifier: Apache-2.0
// Detects two threads of a launch that write the same byte without synchronisation. For each byte
// it records the last writer and the time, by the block's clock, which counts barriers. Two writes
// are ordered if they are by the same thread or if a barrier of the block, or a bar.warp.sync of
// the warp, separates them. Atomics are not checked. Memory: 8 bytes for each byte of every
// allocation that is written. Threads: safe.
#pragma once

#include <atomic>
#include <cstdint>
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
  static void record_shared(std::atomic<std::uint64_t>* map, std::uint64_t offset, unsigned size,
                            warp& writer, unsigned lane, operation const& op);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::atomic<std::uint64_t>[]>> maps_;
};

}  // namespace fatlink::interpreter
