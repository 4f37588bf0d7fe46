// SPDX-License-Identifier: Apache-2.0
// `fatlink run` on several devices, by a launch plan that can be divided: plan_split.
// Threads: one for each device.
#pragma once

#include "compile/source_inputs.hpp"
#include "fatlink/launch_plan.hpp"
#include "run/device_choice.hpp"
#include "run/run_arguments.hpp"

namespace fatlink::cli {

/// Links once for each distinct target and mode, runs the plan on every device of the list with its
/// part of the arrays, verifies each part, and prints the report. Returns the exit status.
/// @throws usage_error the plan cannot be divided, or --compare-cpu. @throws error as
/// run_on_devices.
int run_plan_on_devices(launch_plan plan, run_arguments const& arguments, device_choice& choice,
                        compile_report& compiles);

}  // namespace fatlink::cli
