// SPDX-License-Identifier: Apache-2.0
// Runs one linked image by its launch plan. Threads: one at a time for each device.
#pragma once

#include <cstddef>

#include "fatlink/device.hpp"
#include "fatlink/prepare.hpp"
#include "run/plan_data.hpp"
#include "run/plan_report.hpp"

namespace fatlink::cli {

/// Uploads `data`, makes the launches of `code`, which was prepared for `destination`, and copies
/// the outputs back. Elements that no kernel writes keep the byte `unwritten`: with another one in
/// each run, results differ there. `load_ms` of the result is left to the caller.
/// @throws as prepared_plan::run.
mode_result execute_plan(device const& destination, prepared_plan const& code, run_data const& data,
                         std::byte unwritten);

}  // namespace fatlink::cli
