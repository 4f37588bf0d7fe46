// SPDX-License-Identifier: Apache-2.0
// Wall times of links and of preflight, without the cache, in milliseconds.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/bench_job.hpp"
#include "fatlink/target.hpp"

namespace fatlink::cli {

/// A row for each link mode of the job, as docs/schemas/bench.json describes it: linker::link in
/// this process and in the helper, alternately. The overhead leaves nvJitLink's own time out: with
/// a driver, nvJitLink is faster in this process, where it can use the driver's cache. With
/// `resources`, a row has those of the image, too.
nlohmann::json measure_links(bench_job const& job, target target, bool resources);

/// Preflight of the first link of the last mode; a fatbin caches what preflight reads.
double measure_preflight(bench_job const& job, target target);

}  // namespace fatlink::cli
