// SPDX-License-Identifier: Apache-2.0
// The file name `-`: standard input or standard output. Other names are files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "util/files/output_file.hpp"
#include "verification/npy.hpp"

namespace fatlink::cli {

bool is_stream(std::string const& path);

/// `-`, and the names that Linux has for standard output: writing a file there would replace what
/// standard output is redirected to.
bool is_standard_output(std::string const& path);

/// @throws usage_error `path` is `-` and --json is there: both would write to standard output.
void check_output(std::string const& path, bool json);

/// @throws usage_error the file `path` is one of `inputs`, by whatever name, or the .json beside
/// one.
void must_not_overwrite(std::vector<std::filesystem::path> const& inputs, std::string const& path);

/// The file, or for `-` standard output, which then has these bytes only: what is printed goes to
/// standard error. @throws file_error it cannot be written.
std::unique_ptr<output_file> create_output(std::string const& path);

/// The same for an array of `count` elements.
std::unique_ptr<npy_writer> create_npy(std::string const& path, std::size_t count);

/// The file, or for `-` standard input, to its end. @throws file_error as npy_reader.
npy_reader open_npy(std::string const& path);

}  // namespace fatlink::cli
