// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of a launch plan. Threads: no shared state.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// The keys of a plan in its sidecar, without "sha256".
std::vector<std::string> const& plan_keys();

/// Whether the sidecar states a plan, right or wrong: it has a key of one.
bool states_plan(nlohmann::json const& sidecar);

/// The plan in `json`, the content of `file`. `other_keys` are ignored.
/// @throws file_error as launch_plan::read.
launch_plan read_plan(nlohmann::json const& json, std::string const& file,
                      std::vector<std::string> const& other_keys);

/// Whether the operation compares what its hook returns with a number: filter_equal, filter_above,
/// count_equal.
bool compares_number(operation kind) noexcept;

/// Whether operand 1 of the operation holds the offsets of segments: segmented_fold,
/// segmented_sort.
bool has_segments(operation kind) noexcept;

}  // namespace fatlink::detail
