// SPDX-License-Identifier: Apache-2.0
// Where the other files of this installation are. Every path is found from the file that holds this
// code, or from the running program, so that an install tree can be moved. The install folders that
// were configured are known relative to each other (install_layout.hpp, which CMake writes).
// Threads: safe.
#pragma once

#include <filesystem>
#include <vector>

namespace fatlink::detail {

/// Folders that may hold `fatlink-linkd`, in the order to search them: the installation's own
/// libexec. They need not exist.
std::vector<std::filesystem::path> helper_folders();

/// Folders that may hold the shipped fatbins, in the order to search them: `share/fatlink` of this
/// installation, then of the installation that `default_link_helper()` belongs to. They need not
/// exist.
std::vector<std::filesystem::path> data_folders();

/// Names the helper of the installation that a statically linked program belongs to.
void set_default_link_helper(std::filesystem::path file);

/// The path of the last set_default_link_helper call; empty before the first.
std::filesystem::path default_link_helper();

}  // namespace fatlink::detail
