// SPDX-License-Identifier: Apache-2.0
// Kernel times on a GPU: a linked transform in both modes, compared with the same source compiled
// as one, with a call through a function pointer, and with a device-to-device copy. Rounds are
// interleaved and medians are taken, so ratios within one run are reliable.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::cli {

struct kernel_time_settings {
  std::vector<std::size_t> elements;  ///< floats of a launch, for each row
  unsigned rounds = 30;
  std::vector<link_options> links;  ///< of the pair, one for each link mode; cubins for the GPU
  bool has_single_source = false;   ///< the transform is the one that bench.fatbin holds, too
};

/// Four elements for each thread, as fatlink's vectorized kernel reads them.
launch_shape vector_shape(std::size_t count);

/// Rows for each number of elements and variant, as docs/schemas/bench.json describes them.
/// `pair`: the library, then the transform.
nlohmann::json measure_kernels(device const& gpu, std::vector<fatbin> const& pair,
                               kernel_time_settings const& settings);

}  // namespace fatlink::cli
