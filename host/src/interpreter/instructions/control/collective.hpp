// SPDX-License-Identifier: Apache-2.0
// Operations that the threads of a warp execute together: shuffles, votes, bar.warp.sync, matrices.
#pragma once

#include <bit>
#include <string>

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
/// @throws code_error (deadlock) a mask without its own thread.
bool meet(warp& w, operation const& o, operand_offset members, lane_mask mask);

/// Waits until all threads of the warp have arrived. False: the group has to wait. The operation's
/// flags must be k_whole_warp, and bits of its own in the low 8.
/// @throws code_error (deadlock) the warp has fewer than 32 threads: undefined in PTX.
inline bool meet_whole_warp(warp& w, operation const& o, lane_mask mask)
{
  if (w.live() != k_all_lanes)
    w.fail(error_kind::deadlock,
           "needs 32 threads, and the warp has " + std::to_string(std::popcount(w.live())) +
               ": the others have ended, or the block's size is not a multiple of 32",
           static_cast<unsigned>(std::countr_zero(mask)), o);
  return w.converged(w.live(), mask, o);
}

}  // namespace fatlink::interpreter
