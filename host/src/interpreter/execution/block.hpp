// SPDX-License-Identifier: Apache-2.0
// A block of threads (CTA): its warps, shared memory and barriers. The warps run in turns. A host
// thread runs a block until it ends, waits for other blocks, or has run for long.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/launch_activity.hpp"
#include "interpreter/execution/memory.hpp"
#include "interpreter/execution/warp.hpp"
#include "interpreter/execution/written_bytes.hpp"

namespace fatlink::interpreter {

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
  /// @throws failure, stopped.
  block_state step();
  /// @throws failure (deadlock): what threads wait for.
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
  /// Whether no thread of the launch can run on, unless by itself (launch_activity.hpp).
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
/// instructions executed, counted for each thread. @throws failure: that of the lowest-numbered
/// failed block.
std::uint64_t run_blocks(launch_state const& launch);

}  // namespace fatlink::interpreter
