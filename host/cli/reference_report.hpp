// SPDX-License-Identifier: Apache-2.0
// What the sidecar of an input states of its hooks, its elements and its state, as `inspect` and
// `list` show it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/input.hpp"

namespace fatlink::cli {

/// The reference beside `file`, as docs/schemas/common.json describes it; null without one. Where
/// it cannot be used, "problem" says why: nothing that shows files depends on their references.
nlohmann::json describe_reference(std::filesystem::path const& file);
nlohmann::json describe_reference(input const& file);  ///< as above

/// One line for each hook, number of the state, element and error model: a title and a text, both
/// printable. `reference`: as describe_reference, not null.
std::vector<std::pair<std::string, std::string>> reference_lines(nlohmann::json const& reference);

}  // namespace fatlink::cli
