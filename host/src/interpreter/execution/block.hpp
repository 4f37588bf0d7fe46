// SPDX-License-Identifier: Apache-2.0
// The blocks of a launch. A block of threads (CTA) has its warps, shared memory and barriers. The
// warps run in turns. A host thread runs a block until it ends, waits for other blocks, or has run
// for long. The blocks of a cluster run on one host thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/memory.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

/// Tells when no thread of a launch can run on: when every block that has started and not ended has
/// looked at all that it waits for since any of them did more than wait.
/// Threads: safe.
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

/// Which bytes of a block's shared memory have been written, for the check of uninitialised reads.
/// Threads: one at a time.
class written_bytes {
 public:
  /// Those from `initialized` on count as written, of `size`.
  void reset(std::uint64_t size, std::uint64_t initialized)
  {
    bits_.assign(size, false);
    add(initialized, size - initialized);
  }
  /// The bytes [offset, offset + size) are in the memory.
  void add(std::uint64_t offset, std::uint64_t size) noexcept
  {
    std::fill_n(at(offset), size, true);
  }
  /// The first byte of [offset, offset + size), which is in the memory, that nothing has written.
  [[nodiscard]] std::optional<std::uint64_t> first_missing(std::uint64_t offset,
                                                           std::uint64_t size) noexcept
  {
    auto const begin = at(offset);
    auto const end = begin + static_cast<std::ptrdiff_t>(size);
    auto const missing = std::find(begin, end, false);
    if (missing == end) return std::nullopt;
    return offset + static_cast<std::uint64_t>(missing - begin);
  }

 private:
  std::vector<bool>::iterator at(std::uint64_t offset) noexcept
  {
    return bits_.begin() + static_cast<std::ptrdiff_t>(offset);
  }

  std::vector<bool> bits_;
};

class cluster;
class device_heap;
class race_map;

struct dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

/// The indices of element number `index` of `extent`, x fastest.
constexpr dimensions place_in(dimensions const& extent, std::uint64_t index) noexcept
{
  return {static_cast<std::uint32_t>(index % extent.x),
          static_cast<std::uint32_t>(index / extent.x % extent.y),
          static_cast<std::uint32_t>(index / extent.x / extent.y)};
}

/// The state that all blocks of a launch share. Read-only while they run, except `races` and what
/// is atomic.
struct launch_state {
  code const* entry = nullptr;
  std::vector<code const*> functions =
      {};  ///< by index; null: not decoded, because nothing refers to it
  dimensions grid = {};
  dimensions block = {};
  dimensions cluster = {};           ///< blocks of a cluster
  bool is_explicit_cluster = false;  ///< the kernel states its clusters
  std::vector<std::byte> parameters = {};
  std::shared_ptr<region_list const> regions;
  std::shared_ptr<object_list const> objects = {};  ///< textures and surfaces
  std::uint32_t static_shared = 0;  ///< bytes, at offset 0; dynamic shared memory follows
  std::uint32_t dynamic_shared = 0;
  bool has_reserved_shared = false;  ///< k_reserved_shared_bytes follow
  std::uint64_t budget = 0;          ///< operations a warp may execute; 0: any number
  race_map* races = nullptr;
  bool checks_initialization = false;           ///< of shared memory, before it is read
  bool in_order = false;                        ///< one host thread runs the blocks in their order
  std::function<void(std::string_view)> print;  ///< must accept calls of several threads
  device_heap* heap = nullptr;                  ///< for kernels that use it
  std::uint64_t workspace = 0;                  ///< the address of the grid's barrier; 0: none
  std::uint64_t max_resident = 1;               ///< blocks that the device runs at a time
  mutable std::atomic<bool> stop = false;       ///< a block has failed: the others stop
  mutable std::atomic<std::uint64_t> started = 0;  ///< blocks; may exceed their number
  mutable launch_activity activity = {};
};

/// Of each block, for the system: libraries keep the state of their groups in it.
constexpr std::uint32_t k_reserved_shared_bytes = 1024;

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

/// The number of the cluster's barrier, in group::barrier.
constexpr unsigned k_cluster_barrier = k_barriers;

enum class block_state { ended, waits_for_cluster, waits, runs };

class block {
 public:
  block(launch_state const& launch, cluster& cluster, std::uint32_t rank);
  ~block();
  block(block const&) = delete;
  block& operator=(block const&) = delete;
  /// Starts block number `index` of the grid, x fastest.
  void start(std::uint64_t index);
  /// Runs until the block ends, all its threads wait (for another block, or a sleep), or it has run
  /// for long. Waits for the cluster: nothing runs until the cluster's barrier is released.
  /// @throws code_error, stopped.
  block_state step();
  /// @throws code_error (deadlock): what threads wait for.
  [[noreturn]] void fail_deadlock();

  // The barrier of the cluster.
  [[nodiscard]] bool all_at_cluster_barrier() const noexcept;
  [[nodiscard]] bool any_at_cluster_barrier() const noexcept;
  void release_cluster_barrier();

  [[nodiscard]] dimensions const& index() const noexcept { return index_; }
  [[nodiscard]] std::uint64_t linear_index() const noexcept { return linear_; }
  /// In its cluster, x fastest.
  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] cluster& cluster_of() const noexcept { return cluster_; }
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
  /// Which bytes of shared memory are written; without the check, empty.
  [[nodiscard]] written_bytes& written() noexcept { return written_; }
  /// Who accessed the shared memory, for the race check.
  [[nodiscard]] byte_history* shared_history() const noexcept { return shared_history_.data(); }
  [[nodiscard]] barrier& barrier_at(unsigned number) noexcept { return barriers_[number]; }
  /// The thread index of a lane of warp `warp_index`.
  [[nodiscard]] dimensions thread(unsigned warp_index, unsigned lane) const noexcept;
  [[nodiscard]] std::size_t warp_count() const noexcept { return warps_.size(); }
  [[nodiscard]] std::uint64_t executed() const noexcept;
  /// Whether no thread of the launch can run on, unless by itself (launch_activity).
  [[nodiscard]] bool launch_is_idle() const noexcept { return launch_is_idle_; }

  // For messages.
  /// The device's address of a place in global or shared memory.
  [[nodiscard]] std::string address_text(void const* place) const;
  /// What the groups of the block other than `reported` of `reporter` wait for, and how many blocks
  /// have not started. The running group is none of the groups.
  [[nodiscard]] std::string other_waits(warp const& reporter, group const* reported) const;

  std::uint64_t clock = 1;         ///< counts synchronisations, for the race check
  std::uint64_t last_barrier = 0;  ///< the clock at the last barrier that released all threads
  std::uint64_t accesses = 0;      ///< that the race check has recorded
  std::uint64_t acquired = 0;      ///< the launch's tick at the last acquire, for the race check

 private:
  bool run_warps(bool& progress);
  void set_waiting(bool is_waiting) noexcept;
  void confirm(std::uint32_t epoch) noexcept;
  [[nodiscard]] block_state end_or_wait();
  bool release_barriers();
  void release(unsigned number);
  [[nodiscard]] std::uint32_t live_threads() const noexcept;
  [[nodiscard]] bool waits_for_cluster() const noexcept;
  [[nodiscard]] std::string unstarted_blocks() const;

  launch_state const& launch_;
  cluster& cluster_;
  std::uint32_t rank_;
  dimensions index_;
  std::uint64_t linear_ = 0;
  std::uint64_t shared_bytes_;
  std::vector<std::uint64_t> shared_;
  byte_histories shared_history_;
  written_bytes written_;
  std::array<barrier, k_barriers> barriers_;
  std::vector<std::unique_ptr<warp>> warps_;
  bool is_waiting_ = false;
  std::optional<std::uint32_t> confirmed_;  ///< the epoch in which it only waited
  bool launch_is_idle_ = false;
};

/// Runs every block of a launch on all cores of the host, or in_order on one. Returns the number of
/// instructions executed, counted for each thread. @throws code_error: that of the lowest-numbered
/// failed block.
std::uint64_t run_blocks(launch_state const& launch);

// A cluster of blocks: they run at the same time, on one thread of the host, and may access each
// other's shared memory. Without a stated size a cluster has one block.

/// Bytes of shared memory of a block.
struct shared_place {
  block* owner = nullptr;  ///< null: there is none
  std::uint64_t offset = 0;
};

class cluster {
 public:
  explicit cluster(launch_state const& launch);
  /// Starts cluster number `index` of the grid, x fastest.
  void start(std::uint64_t index);
  /// Runs until all blocks end or wait, or have run for long. @throws code_error, stopped.
  block_state step();

  [[nodiscard]] std::uint64_t executed() const noexcept;
  /// The number of the block that runs, or ran last, in the grid.
  [[nodiscard]] std::uint64_t running_block() const noexcept { return running_block_; }
  /// The place of `size` bytes at `offset` in shared memory of a block, where the offset states
  /// the rank of the block (address_space.hpp).
  [[nodiscard]] shared_place place(std::uint64_t offset, std::uint64_t size) noexcept;

 private:
  bool release_barrier();

  launch_state const& launch_;
  std::vector<std::unique_ptr<block>> blocks_;  ///< by rank
  std::vector<block_state> states_;
  std::uint64_t running_block_ = 0;
};

// Addresses and indices in messages.

inline std::string hexadecimal(std::uint64_t value)
{
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

inline std::string triple(dimensions const& index)
{
  std::string text(1, '(');
  text.append(std::to_string(index.x)).append(1, ',').append(std::to_string(index.y));
  return text.append(1, ',').append(std::to_string(index.z)).append(1, ')');
}

}  // namespace fatlink::interpreter
