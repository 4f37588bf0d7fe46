// SPDX-License-Identifier: Apache-2.0
// Installed fatbins: by name, those that fatlink ships, and the library that is used where no
// --library is given. They are in share/fatlink beside the
// program's folder, in the build tree and in the install tree.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatlink/cache.hpp"
#include "fatlink/catalogue.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"

namespace fatlink::cli {

constexpr char const* k_default_library = "apply_transform";
constexpr char const* k_default_transform = "relu_poly";
constexpr char const* k_default_kernel = "apply_transform";

/// The folders in which names are searched.
std::vector<search_folder> search_path();

/// Whether it can be used by its name: neither hidden nor unusable.
bool is_used(installed_fatbin const& entry);

/// The file of `name`, which is the name of an installed fatbin or a file of any input form.
/// @throws file_error as find_fatbin.
std::filesystem::path input_file(std::string const& name);

/// The default value of an option, and the package that installs it.
struct shipped_fatbin {
  char const* name;
  char const* option;
  char const* package;
};
constexpr shipped_fatbin k_shipped_library{k_default_library, "--library", "fatlink-runtime"};
constexpr shipped_fatbin k_shipped_transform{k_default_transform, "--transform",
                                             "fatlink-transforms"};

/// The file of `name`, or of the shipped fatbin if `name` is empty.
/// @throws file_error it is not installed; the hint names the package.
std::filesystem::path fatbin_or_default(std::string const& name, shipped_fatbin const& shipped);

/// The single-source kernels of `bench`. They are not a library, so they have no name.
/// @throws file_error as fatbin_or_default.
std::filesystem::path bench_fatbin();

/// The first ident of the input's modules that states a contract; null: none does.
ident const* find_contract(input const& file);

/// `library`; if it is empty, the file of the installed library whose contract the transforms
/// state, or --contract, `contract`, for those that are sources. Empty where they state none or
/// that of the shipped library, where no library of it is installed, and where a transform cannot
/// be read, which reading it later reports.
/// @throws usage_error several libraries of the contract are installed; the message lists them.
std::string library_for(std::string const& library, std::vector<std::string> const& transforms,
                        std::string const& contract);

}  // namespace fatlink::cli
