// SPDX-License-Identifier: Apache-2.0
// How many elements of an output are results, where only the launches know: "length": "count" of an
// output states that the output "count", one integer, holds it. Threads: no shared state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// Checks the lengths of all outputs.
/// @throws file_error (code invalid-plan) a length that is no formula over the sizes and the other
///   outputs of one integer, or that uses no output.
void check_lengths(launch_plan const& plan);

/// The length of `output`, which states one. `values`: the sizes, and of the outputs of one integer
/// what they hold. Nothing where the formula has no value: an overflow, a division by zero.
std::optional<std::int64_t> compute_length(launch_plan const& plan, plan_argument const& output,
                                           std::map<std::string, std::int64_t> const& values);

/// Whether `argument` is an output of one integer, which a length may use.
bool holds_length(plan_argument const& argument);

}  // namespace fatlink::detail
