// SPDX-License-Identifier: Apache-2.0
// The folders in which installed fatbins and cache layers are searched.
// Needs neither CUDA nor a GPU. Threads: safe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Why a folder is searched: it is named in $FATLINK_PATH, or belongs to the user, the program, a
/// Python distribution or the system.
enum class folder_origin { environment, user, program, python, system };
/// "environment", "user", "program", "python", "system".
char const* to_string(folder_origin origin) noexcept;

/// A folder in which fatbins are searched by name.
struct search_folder {
  std::filesystem::path path = {};                    ///< the folder, which need not exist
  folder_origin origin = folder_origin::environment;  ///< why the folder is searched
  /// The Python distribution that installed the folder, with its version: "mix 2.1". Empty unless
  /// the origin is `python`.
  std::string distribution = {};
};

/// "program", "python: mix 2.1".
std::string describe_origin(search_folder const& folder);

/// The folder of the fatbins that were installed with this library: share/fatlink in its prefix. It
/// need not exist.
std::filesystem::path installed_data_folder();

/// The folders in which fatbins are searched, in this order, each once:
/// - the folders of $FATLINK_PATH, separated by colons
/// - `fatlink` in $XDG_DATA_HOME, or otherwise in ~/.local/share
/// - installed_data_folder()
/// - share/fatlink in the prefixes of libfatlink and of the program, if it is in a folder named
///   bin, so that an application finds its own fatbins
/// - the folders that set_python_path set, or otherwise those of $FATLINK_PYTHON_PATH
/// - `fatlink` in each folder of $XDG_DATA_DIRS, or otherwise in /usr/local/share and /usr/share
///
/// The XDG variables follow the XDG base directory specification; relative folders in them are
/// ignored.
std::vector<search_folder> default_search_path();

/// Replaces $FATLINK_PYTHON_PATH in this process: `folders` is searched from now on. fatlink's
/// Python package calls this with the folders of the distributions that it finds.
/// The format is that of the variable: elements DISTRIBUTION=FOLDER or, if it begins with a slash,
/// FOLDER, separated by colons: "mix 2.1=/opt/env/mix/share/fatlink:/opt/other". Other elements,
/// and relative folders, are ignored.
void set_python_path(std::string folders);

}  // namespace fatlink
