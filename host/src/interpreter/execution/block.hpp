// SPDX-License-Identifier: Apache-2.0
// A block of threads (CTA): its warps, shared memory and barriers. One host thread runs a block to
// its end. The warps run in turns; a warp gives up its turn at a barrier.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/memory.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

class race_map;

struct dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

/// The state that all blocks of a launch share. Read-only while they run, except `stop` and
/// `races`.
struct launch_state {
  code const* entry = nullptr;
  std::vector<code const*> functions =
      {};  ///< by index; null: not decoded, because nothing refers to it
  dimensions grid = {};
  dimensions block = {};
  std::vector<std::byte> parameters = {};
  std::shared_ptr<region_list const> regions;
  std::uint32_t static_shared = 0;  ///< bytes, at offset 0; dynamic shared memory follows
  std::uint32_t dynamic_shared = 0;
  std::uint64_t budget = 0;  ///< operations a warp may execute; 0: any number
  race_map* races = nullptr;
  std::function<void(std::string_view)> print;  ///< must accept calls of several threads
  mutable std::atomic<bool> stop = false;       ///< a block has failed: the others stop
};

/// Thrown to stop a block after another one failed.
struct stopped {};

constexpr unsigned k_barriers = 16;

/// What bar does at its barrier, in operation::flags: wait, only arrive, or wait and write to
/// operation::d how many threads' predicates are true, whether all are, or whether any is.
enum class barrier_action : std::uint32_t { sync, arrive, population, conjunction, disjunction };

struct barrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;    ///< 0: all live threads
  std::uint32_t population = 0;  ///< number of true predicates of bar.red
  std::uint32_t voters = 0;      ///< number of predicates of bar.red
};

class block {
 public:
  explicit block(launch_state const& launch);
  /// Runs block number `index` of the grid, x fastest. @throws failure, stopped.
  void run(std::uint64_t index);

  [[nodiscard]] dimensions const& index() const noexcept { return index_; }
  [[nodiscard]] std::uint64_t linear_index() const noexcept { return linear_; }
  [[nodiscard]] std::byte* shared() noexcept
  {
    return reinterpret_cast<std::byte*>(shared_.data());
  }
  [[nodiscard]] std::uint64_t shared_bytes() const noexcept { return shared_bytes_; }
  /// Whether `place` is in the block's shared memory.
  [[nodiscard]] bool owns_shared(std::byte const* place) noexcept
  {
    return place >= shared() && place < shared() + shared_bytes_;
  }
  /// The last writer of each byte of shared memory; null without the race check.
  [[nodiscard]] std::atomic<std::uint64_t>* shared_writers() noexcept { return writers_.get(); }
  [[nodiscard]] barrier& barrier_at(unsigned number) noexcept { return barriers_[number]; }
  /// The thread index of a lane of warp `warp_index`.
  [[nodiscard]] dimensions thread(unsigned warp_index, unsigned lane) const noexcept;
  [[nodiscard]] std::size_t warp_count() const noexcept { return warps_.size(); }
  [[nodiscard]] std::uint64_t executed() const noexcept;

  std::uint64_t clock = 1;         ///< counts synchronisations, for the race check
  std::uint64_t last_barrier = 0;  ///< the clock at the last barrier that released all threads

 private:
  bool release_barriers();
  void release(unsigned number);
  [[nodiscard]] std::uint32_t live_threads() const noexcept;
  [[noreturn]] void fail_deadlock();

  launch_state const& launch_;
  dimensions index_;
  std::uint64_t linear_ = 0;
  std::uint64_t shared_bytes_;
  std::vector<std::uint64_t> shared_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> writers_;
  std::array<barrier, k_barriers> barriers_;
  std::vector<std::unique_ptr<warp>> warps_;
};

/// Runs every block of a launch on all cores of the host. Returns the number of instructions
/// executed, counted for each thread. @throws failure: that of the lowest-numbered failed block.
std::uint64_t run_blocks(launch_state const& launch);

}  // namespace fatlink::interpreter
