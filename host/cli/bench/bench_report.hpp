// SPDX-License-Identifier: Apache-2.0
// The text output of `fatlink bench`: tables in Markdown.
#pragma once

#include <nlohmann/json.hpp>

namespace fatlink::cli {

/// `report`: the object of `fatlink bench --json` (docs/schemas/bench.json).
void print_bench(nlohmann::json const& report);

}  // namespace fatlink::cli
