// SPDX-License-Identifier: Apache-2.0
// `fatlink run` on several devices, of a library without a launch plan: each device processes a
// contiguous part of the elements. Threads: one for each device.
#pragma once

#include "run/device_choice.hpp"
#include "run/elementwise_job.hpp"
#include "run/run_arguments.hpp"

namespace fatlink::cli {

/// Links once for each distinct target and mode, executes and verifies on every device of the
/// list, and prints the report. Returns the exit status. `summary`: what prepare_elementwise found.
/// @throws error no device could be opened, or every device failed for one reason.
int run_on_devices(elementwise_job const& job, device_choice& choice,
                   run_arguments const& arguments, run_summary const& summary);

}  // namespace fatlink::cli
