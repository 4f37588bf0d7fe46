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

/// Links in two steps in this process, a row for each kind of image of the first step that
/// nvJitLink makes: `ltoir`, from 13.4 on, to which the library is linked and then with the
/// transforms in lto mode; `relocatable`, from 13.3 on, to which each input is linked alone in lto
/// mode and then all in sass mode. Without lto among the modes there are no rows.
nlohmann::json measure_two_steps(bench_job const& job, target target);

/// Preflight of the first link of the last mode; a fatbin caches what preflight reads.
double measure_preflight(bench_job const& job, target target);

}  // namespace fatlink::cli
