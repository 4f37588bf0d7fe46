// SPDX-License-Identifier: Apache-2.0
// Outputs of which the launches determine how many elements are results: "length" of a plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "fatlink/launch_plan.hpp"
#include "run/plan_data.hpp"

namespace fatlink::cli {

/// Cuts each output that states a length to its first elements, which are the results. An output
/// whose length is negative or larger than the array stays as it is, and host_array::wrong_length
/// says why. `outputs` has all outputs of the plan.
void cut_outputs(launch_plan const& plan, std::map<std::string, std::int64_t> const& sizes,
                 std::map<std::string, host_array>& outputs);

}  // namespace fatlink::cli
