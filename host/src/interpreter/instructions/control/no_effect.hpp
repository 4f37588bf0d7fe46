// SPDX-License-Identifier: Apache-2.0
// Instructions that change nothing on this device: hints, and waits for what is complete already.
#pragma once

#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

inline void do_nothing(warp&, operation const&, lane_mask) {}

}  // namespace fatlink::interpreter
