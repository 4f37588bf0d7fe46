// SPDX-License-Identifier: Apache-2.0
// Operations in which threads take part together: barriers, shuffles, votes.
#pragma once

#include "cpu/block.hpp"
#include "cpu/warp.hpp"

namespace fatlink::cpu {

/// Gives a released bar.red its result.
void write_barrier_result(group const& released, barrier const& done) noexcept;

}  // namespace fatlink::cpu
