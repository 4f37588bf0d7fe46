// SPDX-License-Identifier: Apache-2.0
// The time from inputs that no cache holds to the first launch, in milliseconds: with tiers, where
// the sass link is launched while the lto link is made (live_settings::tiered), and without.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/bench_job.hpp"
#include "fatlink/device.hpp"

namespace fatlink::cli {

/// Rows as docs/schemas/bench.json describes them ("first_launch"); empty, with the reason, where
/// the job has no lto mode, or its inputs no SASS for `target`. `gpu`: null without one; the time
/// of the image is measured then, and nothing is launched.
nlohmann::json measure_first_launch(bench_job const& job, device const* gpu, target target,
                                    std::string& reason);

void print_first_launch(nlohmann::json const& rows);

}  // namespace fatlink::cli
