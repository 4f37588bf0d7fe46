// SPDX-License-Identifier: Apache-2.0
// The order in which the lets and occupancies of a plan are computed. Threads: no shared state.
#pragma once

#include <vector>

#include "plan/plan_formulas.hpp"

namespace fatlink::detail {

/// plan_formulas::order, of formulas that are parsed.
/// @throws file_error (code invalid-plan) a let or an occupancy needs itself; names the cycle.
std::vector<std::size_t> order_values(plan_formulas const& formulas);

}  // namespace fatlink::detail
