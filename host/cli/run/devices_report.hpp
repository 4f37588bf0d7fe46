// SPDX-License-Identifier: Apache-2.0
// The report of `fatlink run` on several devices, as text and as JSON: a row for each device, and
// the total.
#pragma once

#include <nlohmann/json.hpp>

#include "run/devices_run.hpp"

namespace fatlink::cli {

/// Of schema fatlink.run-devices/1.
nlohmann::json to_json(devices_run const& run);
/// The report on standard output.
void print_text(devices_run const& run);
/// The errors of the devices that failed, on standard error.
void print_failures(devices_run const& run);

}  // namespace fatlink::cli
