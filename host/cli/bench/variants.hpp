// SPDX-License-Identifier: Apache-2.0
// Times of several variants of one work on a GPU. Rounds are interleaved and medians are taken, so
// ratios within one run are reliable. Threads: one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/device.hpp"

namespace fatlink::cli {

constexpr char const* k_copy = "device-to-device copy";
constexpr char const* k_single_source = "single source";

/// Work that is timed: started once in each round on a stream.
struct variant {
  std::string name = {};
  std::function<void(stream const&)> launch = {};
  std::vector<double> ms = {};  ///< of each round
};

/// A launch's size, in the units of docs/schemas/bench.json.
struct work_size {
  std::size_t elements = 0;
  double bytes = 0;  ///< that a launch reads and writes, the copy too
};

/// Times the variants, and returns a row for each. Short launches are timed in batches, so that the
/// cost of an event stays small.
nlohmann::json time_variants(device const& gpu, std::vector<variant>& variants, work_size size,
                             unsigned rounds);

}  // namespace fatlink::cli
