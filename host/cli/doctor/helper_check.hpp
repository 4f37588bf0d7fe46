// SPDX-License-Identifier: Apache-2.0
// What `fatlink doctor` finds out about the link helper.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fatlink::cli {

/// {"found", "path", "layers": [{"name", "on", "detail"}]}, or {"found", "reason", "hint"}. Starts
/// the helper with the nvJitLink at `library`, also where the kernel refuses its sandbox; where it
/// does not start, "reason" and "hint" tell why. Without `library` nothing is started.
nlohmann::json examine_link_helper(std::string const& library);

/// Whether links can run in it: it starts, and the kernel confines it.
bool is_helper_usable(nlohmann::json const& helper);

/// A line for the helper and one for each layer of its sandbox.
void print_link_helper(nlohmann::json const& helper);

}  // namespace fatlink::cli
