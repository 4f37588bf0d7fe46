// SPDX-License-Identifier: Apache-2.0
// Start-up time: the program is run as a user runs it, with an empty and with a filled cache. With
// sources among the inputs, this is the time from source to linked image.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/bench_job.hpp"

namespace fatlink::cli {

/// Adds "starts" and "nvcc", as docs/schemas/bench.json describes them: rows of `link` and of `run`
/// in the last mode, without nvJitLink's options, cold and warm alternately: medians of the wall
/// time of the whole process, of the processor time of it and its helpers, and of its "start_ms",
/// and the speed-up of the warm start. Without a GPU ("device" is null), `run` is measured only
/// where the reference device runs what the cache keeps: lto links to PTX. nvcc compiles the
/// sources of the job, by turns with `link`.
/// @throws unavailable_error a command failed.
void measure_starts(nlohmann::json& report, bench_job const& job, target target);

void print_starts(nlohmann::json const& report);

}  // namespace fatlink::cli
