// SPDX-License-Identifier: Apache-2.0
// What a start costs: the program itself, run as a user runs it, with an empty cache and with a
// full one.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace fatlink::cli {

/// Rows of `link` and of `run`, cold and warm by turns: medians of the whole process's wall time
/// and of its "start_ms", and how many times the warm one is faster.
nlohmann::json bench_starts(std::filesystem::path const& library,
                            std::filesystem::path const& transform, std::string const& target,
                            unsigned rounds);

void print_starts(nlohmann::json const& rows);

}  // namespace fatlink::cli
