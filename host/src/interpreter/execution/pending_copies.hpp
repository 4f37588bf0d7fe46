// SPDX-License-Identifier: Apache-2.0
// The copies of cp.async that threads of a warp have started. A copy takes place as late as PTX
// allows, when its thread waits for it: a missing wait shows as missing data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "interpreter/decode/operation.hpp"

namespace fatlink::interpreter {

/// Copies `available` bytes to `target`, and zeros up to `size`; at most 16.
struct pending_copy {
  std::byte* target = nullptr;
  std::byte const* source = nullptr;
  std::uint8_t size = 0;
  std::uint8_t available = 0;
};

class pending_copies {
 public:
  void clear();  ///< forgets all copies
  void add(unsigned lane, pending_copy const& copy);
  /// Ends the group to which add() adds.
  void commit(unsigned lane);
  /// Completes all groups of `lane` but the `allowed` last ones.
  void complete(unsigned lane, std::uint64_t allowed);
  /// Completes all copies of `lane`, committed or not.
  void complete_all(unsigned lane);

 private:
  using copy_group = std::vector<pending_copy>;
  struct lane_copies {
    copy_group open;
    std::deque<copy_group> committed;
    std::size_t committed_copies = 0;  ///< of all groups
  };

  static void complete_first(lane_copies& copies);

  std::array<lane_copies, k_lanes> lanes_;
  bool is_used_ = false;
};

}  // namespace fatlink::interpreter
