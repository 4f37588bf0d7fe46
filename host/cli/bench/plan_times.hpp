// SPDX-License-Identifier: Apache-2.0
// Times of calls by a launch plan on a GPU: linked in each mode, compared with a device-to-device
// copy of as many bytes and, where there is one, with the same sources compiled as one.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/bench_job.hpp"
#include "fatlink/device.hpp"
#include "run/plan_data.hpp"

namespace fatlink::cli {

/// Generated inputs of a call of `code` whose first size is `elements`. `job` has a launch plan.
/// @throws usage_error the plan needs values that have no defaults.
run_data generate_data(bench_job const& job, std::size_t elements, prepared_plan const& code);

/// Rows for each number of `elements` (the first size of the plan) and variant, as
/// docs/schemas/bench.json describes them. @throws as generate_data.
nlohmann::json measure_plan(device const& gpu, bench_job const& job,
                            std::vector<std::size_t> const& elements);

}  // namespace fatlink::cli
