// SPDX-License-Identifier: Apache-2.0
// Wall times of links and of preflight, without the cache, in milliseconds.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/link_options.hpp"
#include "fatlink/target.hpp"

namespace fatlink::cli {

/// A row for each of `links`, one of each link mode, as docs/schemas/bench.json describes it:
/// linker::link in this process and in the helper, alternately. The overhead leaves nvJitLink's own
/// time out: with a driver, nvJitLink is faster in this process, where it can use the driver's
/// cache.
nlohmann::json measure_links(std::vector<fatbin> const& pair,
                             std::vector<link_options> const& links, unsigned rounds);

/// Preflight of the first link of a pair; a fatbin caches what preflight reads.
double measure_preflight(std::vector<fatbin> const& pair, target target, unsigned rounds);

}  // namespace fatlink::cli
