// SPDX-License-Identifier: Apache-2.0
// A cluster of blocks: they run at the same time, on one thread of the host, and may access each
// other's shared memory. Without a stated size a cluster has one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "interpreter/execution/block.hpp"

namespace fatlink::interpreter {

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
  /// Runs until all blocks end or wait, or have run for long. @throws failure, stopped.
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

}  // namespace fatlink::interpreter
