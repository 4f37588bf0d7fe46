// SPDX-License-Identifier: Apache-2.0
// What `fatlink bench` says as text: tables in Markdown, for the README.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace fatlink::cli {

/// Of some, at least one.
double median(std::vector<double> values);

/// `found` is bench's JSON.
void print_bench(nlohmann::json const& found);

}  // namespace fatlink::cli
