// SPDX-License-Identifier: Apache-2.0
// Runs one linked image by a launch plan. Threads: one at a time for each device.
#pragma once

#include <cstddef>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"
#include "run/plan_data.hpp"
#include "run/plan_report.hpp"

namespace fatlink::cli {

/// Uploads `data`, makes the launches of `plan` and copies the outputs back. `image` was linked
/// from `inputs`. Elements that no kernel writes keep the byte `unwritten`: with another one in
/// each run, results differ there. @throws as prepare and prepared_plan::run; where a hook
/// reads a null state, with a hint to --state.
mode_result execute_plan(device const& destination, launch_plan const& plan,
                         std::vector<input> const& inputs, run_data const& data,
                         linked_image const& image, std::byte unwritten);

}  // namespace fatlink::cli
