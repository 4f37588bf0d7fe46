// SPDX-License-Identifier: Apache-2.0
// The process's environment, as a program may trust it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fatlink::detail {

/// A variable's text; empty where it is not set, or this process runs with another's rights.
std::string environment(char const* name);

/// The folders that a variable names, parted by colons, without empty ones.
std::vector<std::filesystem::path> folders_in(char const* name);

/// A folder by the XDG base directory specification: $`variable`, else ~/`in_home`; empty where
/// neither is absolute.
std::filesystem::path xdg_folder(char const* variable, std::filesystem::path const& in_home);

}  // namespace fatlink::detail
