// SPDX-License-Identifier: Apache-2.0
// The parts of a plan's JSON. Each function throws file_error (stage sidecar, code invalid-plan)
// with file, path within the JSON, cause and remedy. Threads: no shared state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fatbin/json_file.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// The struct types of a plan, by name.
using plan_types = std::map<std::string, element_type>;

/// "types"; none if it is missing.
plan_types read_types(json_place const& plan);

/// "arguments".
std::vector<plan_argument> read_arguments(json_place const& plan, plan_types const& types);

/// "let", in the order of its names; none if it is missing. `arguments` have other names.
std::vector<plan_let> read_lets(json_place const& plan,
                                std::vector<plan_argument> const& arguments);

/// "launches"; `stated` has the arguments and lets.
std::vector<plan_launch> read_launches(json_place const& plan, launch_plan const& stated);

/// "computes" and "depth", in the order of the arguments; none if they are missing. `stated` has
/// the arguments.
std::vector<plan_result> read_results(json_place const& plan, launch_plan const& stated);

/// @throws file_error (at `place`) `name` has a meaning of its own in formulas.
void check_free_name(json_place const& place, std::string const& name);

}  // namespace fatlink::detail
