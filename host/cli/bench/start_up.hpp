// SPDX-License-Identifier: Apache-2.0
// Start-up time: the program is run as a user runs it, with an empty and with a filled cache.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace fatlink::cli {

/// Rows of `link` and of `run`, cold and warm alternately: medians of the wall time of the whole
/// process and of its "start_ms", and the speed-up of the warm start. docs/schemas/bench.json
/// describes them.
/// @throws unavailable_error a command failed.
nlohmann::json measure_starts(std::filesystem::path const& library,
                              std::filesystem::path const& transform, std::string const& target,
                              unsigned rounds);

void print_starts(nlohmann::json const& rows);

}  // namespace fatlink::cli
