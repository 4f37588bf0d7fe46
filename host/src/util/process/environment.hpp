// SPDX-License-Identifier: Apache-2.0
// What surrounds the process: environment variables, ignored in processes with elevated rights; and
// the other files of this installation, found from the file that contains this code or from the
// running program, so that an install tree can be moved. CMake writes the relative paths of the
// configured install folders to install_layout.hpp. Threads: safe.
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

/// Folders that may contain `fatlink-linkd`, in search order: the libexec folders of this
/// installation. They need not exist.
std::vector<std::filesystem::path> helper_folders();

/// Folders that may contain installed fatbins, in search order: `share/fatlink` beside libfatlink,
/// then beside the running program, then of the installation that `default_link_helper()` belongs
/// to. They need not exist.
std::vector<std::filesystem::path> data_folders();

/// The folders above bin, lib and libexec in which this installation lies: that of the running
/// program, then that of the file that contains this code, without duplicates.
std::vector<std::filesystem::path> installation_prefixes();

/// Sets the helper of the installation that a statically linked program belongs to.
void set_default_link_helper(std::filesystem::path file);

/// The path of the last set_default_link_helper call; empty before the first.
std::filesystem::path default_link_helper();

}  // namespace fatlink::detail
