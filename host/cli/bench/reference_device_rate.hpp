// SPDX-License-Identifier: Apache-2.0
// The speed of the reference device.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/bench_job.hpp"

namespace fatlink::cli {

/// PTX instructions and elements per second and core of the lto link, or of the ptx link of inputs
/// without LTO-IR, as docs/schemas/bench.json describes them. Null, with a warning, for inputs that
/// link in neither mode, such as SASS.
nlohmann::json measure_reference_device(bench_job const& job);

}  // namespace fatlink::cli
