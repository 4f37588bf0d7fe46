// SPDX-License-Identifier: Apache-2.0
// What the program ships and where: share/fatlink beside its own folder, in the build tree and
// installed alike.
#pragma once

#include <filesystem>
#include <string>

namespace fatlink::cli {

constexpr char const* k_default_library = "apply_transform";
constexpr char const* k_default_transform = "relu_poly";
constexpr char const* k_default_kernel = "apply_transform";

/// The folder with the shipped fatbins; it need not exist.
std::filesystem::path data_folder();

/// `given`, or the shipped NAME.fatbin where it is empty.
/// @throws file_error the shipped one is not there; names where it was looked for.
std::filesystem::path fatbin_or_default(std::string const& given, char const* name,
                                        char const* option);

}  // namespace fatlink::cli
