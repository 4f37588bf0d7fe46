// SPDX-License-Identifier: Apache-2.0
// Kernel times on a GPU: a linked transform in each mode, compared with a device-to-device copy
// and, where there is one, with the same source compiled as one and with a call through a function
// pointer.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/bench_job.hpp"
#include "fatlink/device.hpp"

namespace fatlink::cli {

/// As many threads as the kernel needs for `count` elements; elementwise_shape alone would add
/// threads without work to a vectorized kernel, which would be timed, too.
launch_shape shape_of(run_kernel const& kernel, std::size_t count);

/// Rows for each number of `elements` (floats of a launch) and variant, as docs/schemas/bench.json
/// describes them. `job` has no launch plan.
nlohmann::json measure_kernels(device const& gpu, bench_job const& job,
                               std::vector<std::size_t> const& elements);

}  // namespace fatlink::cli
