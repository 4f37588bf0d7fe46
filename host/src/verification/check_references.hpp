// SPDX-License-Identifier: Apache-2.0
// Compares what transforms state that they compute with a launch plan, without running anything.
// Threads: no shared state.
#pragma once

#include <vector>

#include "fatlink/launch_plan.hpp"
#include "fatlink/preflight.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::detail {

/// Findings plan-mismatch (errors): a reference has another number of parameters than the plan's
/// "computes" passes, or names a field that its types do not have. `plan` has the types that the
/// transforms bind; what uses an argument without a type is not compared. `references`: as
/// plan_reference takes them.
std::vector<finding> check_references(launch_plan const& plan,
                                      std::vector<transform_reference> const& references);

}  // namespace fatlink::detail
