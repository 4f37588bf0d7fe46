// SPDX-License-Identifier: Apache-2.0
// Operations that all threads of a warp execute together, at the same instruction (.sync.aligned).
#pragma once

#include "interpreter/execution/rendezvous.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

/// Waits until all live threads of the warp have arrived. False: the group has to wait. The
/// operation's flags must be k_whole_warp, and bits of its own in the low 8.
inline bool meet_whole_warp(warp& w, operation const& o, lane_mask mask)
{
  return w.converged(w.live(), mask, o);
}

}  // namespace fatlink::interpreter
