// SPDX-License-Identifier: Apache-2.0
// Finds the other files of this installation, starting from the file that contains this code or
// from the running program, so that an install tree can be moved. CMake writes the relative paths
// of the configured install folders to install_layout.hpp. Threads: safe.
#pragma once

#include <filesystem>
#include <vector>

namespace fatlink::detail {

/// Folders that may contain `fatlink-linkd`, in search order: the libexec folders of this
/// installation. They need not exist.
std::vector<std::filesystem::path> helper_folders();

/// Folders that may contain the shipped fatbins, in search order: `share/fatlink` of this
/// installation, then of the installation that `default_link_helper()` belongs to. They need not
/// exist.
std::vector<std::filesystem::path> data_folders();

/// The folders above bin, lib and libexec in which this installation lies: that of the running
/// program, then that of the file that contains this code, without duplicates.
std::vector<std::filesystem::path> installation_prefixes();

/// Sets the helper of the installation that a statically linked program belongs to.
void set_default_link_helper(std::filesystem::path file);

/// The path of the last set_default_link_helper call; empty before the first.
std::filesystem::path default_link_helper();

}  // namespace fatlink::detail
