// SPDX-License-Identifier: Apache-2.0
// Start-up time: the program is run as a user runs it, with an empty and with a filled cache.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/bench_job.hpp"

namespace fatlink::cli {

/// Rows of `link` and of `run` in the last mode, without nvJitLink's options, cold and warm
/// alternately: medians of the wall time of the whole process and of its "start_ms", and the
/// speed-up of the warm start. docs/schemas/bench.json describes them. Without a GPU, `run` is
/// measured only where the reference device runs what the cache keeps: lto links to PTX.
/// @throws unavailable_error a command failed.
nlohmann::json measure_starts(bench_job const& job, target target, bool has_gpu);

void print_starts(nlohmann::json const& rows);

}  // namespace fatlink::cli
