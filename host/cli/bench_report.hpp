// SPDX-License-Identifier: Apache-2.0
// What `fatlink bench` says as text: tables in Markdown, for the README.
#pragma once

#include <nlohmann/json.hpp>

namespace fatlink::cli {

/// `found` is bench's JSON.
void print_bench(nlohmann::json const& found);

}  // namespace fatlink::cli
