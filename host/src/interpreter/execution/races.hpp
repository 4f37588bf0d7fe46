// SPDX-License-Identifier: Apache-2.0
// Finds two threads of one launch that write one byte without synchronising: for each byte
// written, who wrote it last and when by the block's clock, which counts barriers. Writes by
// one thread, on either side of a barrier of the block, or of a bar.warp.sync of the warp, are
// in order; atomics do not count. Memory: 8 bytes for each byte of the allocations written.
// Threads: safe.
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
  /// Notes a write of `size` bytes at `offset` of `in` by a lane of `by`.
  /// @throws failure (race) naming both threads.
  void note(region const& in, std::uint64_t offset, unsigned size, warp& by, unsigned lane,
            operation const& op);
  /// The same of the block's shared memory, whose map is the block's own.
  static void note_shared(std::atomic<std::uint64_t>* map, std::uint64_t offset, unsigned size,
                          warp& by, unsigned lane, operation const& op);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::atomic<std::uint64_t>[]>> maps_;
};

}  // namespace fatlink::interpreter
