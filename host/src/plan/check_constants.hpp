// SPDX-License-Identifier: Apache-2.0
// What a plan computes without sizes and facts about a device. Threads: no shared state.
#pragma once

#include "plan/plan_formulas.hpp"

namespace fatlink::detail {

/// Evaluates the formulas that are constant, through "let" too, and compares them with the limits
/// of what they state. `formulas`: parsed, with their order.
/// @throws file_error (code invalid-plan) an overflow, a division by zero, or a constant out of
///   range.
void check_constants(plan_formulas const& formulas);

}  // namespace fatlink::detail
