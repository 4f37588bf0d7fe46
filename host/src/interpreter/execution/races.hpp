// SPDX-License-Identifier: Apache-2.0
// Detects two threads of a launch that access the same byte without synchronisation, of which one
// writes. For each byte it records the last writer and a reader since, with the block's clock,
// which counts synchronisations. Two accesses are ordered
//   - by a barrier of the block or a bar.warp.sync of the warp between them;
//   - if the thread of the first, or one of its block after a barrier, executes a fence or another
//     release after it, and the second one's block an atomic or volatile access after that: which
//     variable they use is not compared. Of threads of one block, their warps count.
// Atomics, volatile and ordered accesses are not checked themselves. Writing the value that a byte
// has already, because a thread wrote it, is no race. The clock of a block that synchronizes more
// than 2^28 times wraps: races may be missed.
// Memory: 16 bytes for each byte of every allocation that is accessed, and 32 for each release that
// follows an access.
// Threads: safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "interpreter/decode/operation.hpp"

namespace fatlink::interpreter {

struct region;
class warp;

/// The last accesses to a byte; 0: none. See races.cpp.
struct byte_history {
  std::atomic<std::uint64_t> writer;
  std::atomic<std::uint64_t> reader;
};

/// Histories without accesses.
class byte_histories {
 public:
  byte_histories() = default;
  /// @throws std::bad_alloc.
  explicit byte_histories(std::uint64_t bytes);
  [[nodiscard]] byte_history* data() const noexcept { return bytes_.get(); }

 private:
  struct release_memory {
    void operator()(byte_history* bytes) const noexcept { std::free(bytes); }
  };
  std::unique_ptr<byte_history, release_memory> bytes_;
};

/// An access of `size` bytes by a lane.
struct lane_access {
  unsigned size = 0;
  warp* accessor = nullptr;
  unsigned lane = 0;
  operation const* op = nullptr;
};

/// Whose accesses a release orders: those of the block, or also those of other blocks.
enum class sync_scope { block, device };

/// The launches that can be checked have fewer threads.
constexpr std::uint64_t k_max_checked_threads = std::uint64_t{1} << 36U;

class race_map {
 public:
  /// The history of the bytes of `region` from `offset`.
  byte_history* history_of(region const& region, std::uint64_t offset);
  /// @throws code_error (race) naming both threads.
  void record_read(byte_history* bytes, lane_access const& access);
  /// `before`, `after`: the bytes before and after the write; `after` may be null.
  /// @throws code_error (race) naming both threads.
  void record_write(byte_history* bytes, lane_access const& access, std::byte const* before,
                    std::byte const* after);
  /// Forgets the accesses to memory that malloc hands out again.
  void forget(region const& region, std::uint64_t offset, std::uint64_t size);
  /// What the block has accessed comes before what others access after their acquire().
  void release(warp& warp, sync_scope scope);
  void acquire(warp& warp, sync_scope scope) noexcept;

 private:
  struct release_point {
    std::uint64_t clock = 0;  ///< of the block
    std::uint64_t tick = 0;   ///< of the launch
    unsigned warp = 0;
    sync_scope scope = sync_scope::block;
  };

  [[nodiscard]] bool in_order(std::uint64_t earlier, warp const& warp, std::uint64_t thread);
  [[nodiscard]] bool was_released(std::uint64_t block, std::optional<unsigned> warp,
                                  std::uint64_t clock, std::uint64_t tick);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, byte_histories> maps_;                  ///< by region
  std::unordered_map<std::uint64_t, std::vector<release_point>> releases_;  ///< by block
  std::atomic<std::uint64_t> ticks_ = 0;
};

}  // namespace fatlink::interpreter
