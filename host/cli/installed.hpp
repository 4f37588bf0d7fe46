// SPDX-License-Identifier: Apache-2.0
// What the program finds without being told where: fatbins by name, the shipped ones, layers of the
// cache. Beside the program is share/fatlink, in the build tree and installed alike.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatlink/cache.hpp"
#include "fatlink/catalogue.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::cli {

constexpr char const* k_default_library = "apply_transform";
constexpr char const* k_default_transform = "relu_poly";
constexpr char const* k_default_kernel = "apply_transform";

/// Where names are looked up.
std::vector<search_folder> search_path();

/// The file that `given` means: a name that is looked up, or a file.
/// @throws file_error as find_fatbin.
std::filesystem::path fatbin_file(std::string const& given);

/// Reads what each means. @throws as fatbin_file and fatbin::read.
std::vector<fatbin> read_fatbins(std::vector<std::string> const& given);

/// What a verb uses where an option is not given, and the package that has it.
struct shipped_fatbin {
  char const* name;
  char const* option;
  char const* package;
};
constexpr shipped_fatbin k_shipped_library{k_default_library, "--library", "fatlink-runtime"};
constexpr shipped_fatbin k_shipped_transform{k_default_transform, "--transform",
                                             "fatlink-transforms"};

/// The file that `given` means, or the shipped one where it is empty.
/// @throws file_error it is not installed; names the package that has it.
std::filesystem::path fatbin_or_default(std::string const& given, shipped_fatbin const& shipped);

/// What `bench` compares with; not by name, as it is no library.
/// @throws file_error as fatbin_or_default.
std::filesystem::path bench_fatbin();

}  // namespace fatlink::cli
