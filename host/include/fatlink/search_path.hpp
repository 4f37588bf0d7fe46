// SPDX-License-Identifier: Apache-2.0
// The folders in which installed fatbins and cache layers are searched.
// Needs neither CUDA nor a GPU. Threads: no shared state.
#pragma once

#include <filesystem>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Why a folder is searched: named in $FATLINK_PATH, the user's own, the program's, the system's.
enum class folder_origin { environment, user, program, system };
/// "environment", "user", "program", "system".
char const* to_string(folder_origin origin) noexcept;

/// A folder in which fatbins are searched by name.
struct search_folder {
  std::filesystem::path path = {};                    ///< need not exist
  folder_origin origin = folder_origin::environment;  ///< why the folder is searched
};

/// The folder with the fatbins that were installed with this library: share/fatlink of its prefix.
/// It need not exist.
std::filesystem::path installed_data_folder();

/// In the order searched, no folder twice: $FATLINK_PATH (several, with colons); `fatlink` in
/// $XDG_DATA_HOME, else in ~/.local/share; installed_data_folder(), and, so that an application
/// finds its own fatbins, the other of share/fatlink beside libfatlink and beside the program, if
/// this is in a folder named bin; `fatlink` in each of $XDG_DATA_DIRS, else in /usr/local/share and
/// /usr/share (the XDG base directory specification; relative folders there are ignored).
std::vector<search_folder> default_search_path();

}  // namespace fatlink
