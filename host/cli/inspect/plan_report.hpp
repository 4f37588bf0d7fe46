// SPDX-License-Identifier: Apache-2.0
// The launch plan of a file in the output of `fatlink inspect`.
#pragma once

#include <nlohmann/json.hpp>

#include "fatlink/launch_plan.hpp"

namespace fatlink::cli {

/// "plan" in docs/schemas/inspect.json.
nlohmann::json to_json(launch_plan const& plan);

/// `plan`: an object that to_json returned.
void print_plan(nlohmann::json const& plan);

}  // namespace fatlink::cli
