// SPDX-License-Identifier: Apache-2.0
// Times of calls by a launch plan on a GPU: linked in each mode, compared with a device-to-device
// copy of as many bytes and, where there is one, with the same sources compiled as one and with a
// call through a function pointer.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/bench_job.hpp"
#include "fatlink/device.hpp"
#include "run/run_data.hpp"

namespace fatlink::cli {

/// Generated inputs of a call.
struct bench_data {
  run_data data = {};
  /// The first size that --set does not state; of a call whose sizes are all stated, the elements
  /// of its largest input.
  std::size_t elements = 0;
};

/// Whether --elements is one of the plan's sizes: neither --set nor a default states it.
bool has_free_size(bench_job const& job);

/// The first size that --set and the plan do not state is `elements`; `code` is one of the job's
/// variants.
/// @throws usage_error the plan needs values that have no defaults.
bench_data generate_data(bench_job const& job, prepared_plan const& code, std::size_t elements,
                         array_copies copies = {});

/// Rows for each number of `elements` and variant, as docs/schemas/bench.json describes them; for
/// one number only if --set states all sizes. @throws as generate_data.
nlohmann::json measure_plan(device const& gpu, bench_job const& job,
                            std::vector<std::size_t> const& elements);

}  // namespace fatlink::cli
