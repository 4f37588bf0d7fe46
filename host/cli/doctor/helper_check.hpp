// SPDX-License-Identifier: Apache-2.0
// The check of the helper by `fatlink doctor`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fatlink::cli {

/// {"found", "path", "layers": [{"name", "on", "detail"}]}, or {"found", "reason", "hint"}. Starts
/// the helper with the nvJitLink at `library`, even if the kernel refuses its sandbox; if it does
/// not start, "reason" and "hint" are set. Without `library` nothing is started.
nlohmann::json examine_link_helper(std::string const& library);

/// Whether links can run in it: it starts, and the kernel confines it.
bool is_helper_usable(nlohmann::json const& helper);

/// Prints a line for the helper and one for each layer of its sandbox.
void print_link_helper(nlohmann::json const& helper);

}  // namespace fatlink::cli
