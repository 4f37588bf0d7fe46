// SPDX-License-Identifier: Apache-2.0
// Environment variables, ignored in processes with elevated rights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fatlink::detail {

/// The value of a variable; empty if it is not set, or if the process has elevated rights
/// (secure_getenv).
std::string environment(char const* name);

/// The folders in a variable, separated by colons, without empty ones.
std::vector<std::filesystem::path> folders_in(char const* name);

/// A folder by the XDG base directory specification: $`variable`, else ~/`in_home`; empty if
/// neither is an absolute path.
std::filesystem::path xdg_folder(char const* variable, std::filesystem::path const& in_home);

}  // namespace fatlink::detail
