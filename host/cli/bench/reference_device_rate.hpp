// SPDX-License-Identifier: Apache-2.0
// The speed of the reference device.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "fatlink/fatbin.hpp"

namespace fatlink::cli {

/// PTX instructions and elements per second and core of the lto link of `pair`, as
/// docs/schemas/bench.json describes them.
nlohmann::json measure_reference_device(std::vector<fatbin> const& pair, unsigned rounds);

}  // namespace fatlink::cli
