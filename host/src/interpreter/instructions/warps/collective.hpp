// SPDX-License-Identifier: Apache-2.0
// Operations that the threads of a warp execute together: shuffles, votes, bar.warp.sync.
#pragma once

#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/execution/rendezvous.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

inline unsigned first_lane(lane_mask mask) noexcept
{
  return static_cast<unsigned>(std::countr_zero(mask));
}

/// Waits until all lanes of the member masks have arrived. False: the group has to wait.
/// @throws failure (deadlock) a mask without its own thread.
bool meet(warp& w, operation const& o, operand_offset members, lane_mask mask);

/// Calls use(lane, members) for each lane of `mask`; `members` are the lanes of its member mask.
template <typename Use>
void each_member(warp& w, operand_offset members, lane_mask mask, Use const& use)
{
  auto const* const masks = w.at(members);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = first_lane(remaining);
    use(lane, load<lane_mask>(masks, lane) & mask);
  }
}

/// The lanes of `mask`, those that execute the operation.
void read_active_mask(warp& w, operation const& o, lane_mask mask);

/// The member mask of a collective with `.sync`, operand `index`; without, which PTX has up to 6.3,
/// the threads that execute it. @throws failure (invalid) another number of operands, or newer PTX
/// without `.sync`.
operand_offset take_members(decoding& d, std::size_t index);

/// The results d|p; p is an unused predicate if it is missing.
struct result_pair {
  operand_offset value;
  std::uint32_t predicate;
};

result_pair take_results(decoding& d, type type);

}  // namespace fatlink::interpreter
