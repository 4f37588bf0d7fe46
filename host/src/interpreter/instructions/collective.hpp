// SPDX-License-Identifier: Apache-2.0
// Operations in which threads take part together: barriers, shuffles, votes.
#pragma once

#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

inline unsigned first_lane(lane_mask mask) noexcept
{
  return static_cast<unsigned>(std::countr_zero(mask));
}

/// Makes every running lane meet those its member mask names. False: the group waits.
/// @throws failure (deadlock) a mask that leaves out its own thread.
bool meet(warp& w, operation const& o, operand_offset members, lane_mask mask);

/// Calls use(lane, members): the lanes named by it that take part.
template <typename Use>
void each_member(warp& w, operand_offset members, lane_mask mask, Use const& use)
{
  auto const* const named = w.at(members);
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const lane = first_lane(left);
    use(lane, load<lane_mask>(named, lane) & mask);
  }
}

/// d or d|p; the second is for nobody where it is missing.
struct result_pair {
  operand_offset value;
  std::uint32_t predicate;
};

result_pair take_results(decoding& d, type as);

}  // namespace fatlink::interpreter
