// SPDX-License-Identifier: Apache-2.0
// The file name `-` means standard input or standard output; other names are files.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "util/files/output_file.hpp"
#include "verification/npy.hpp"

namespace fatlink::cli {

bool is_stream(std::string const& path);

/// Whether `path` is `-` or one of Linux's names of standard output. A file that is written there
/// would replace the file that standard output is redirected to.
bool is_standard_output(std::string const& path);

/// @throws usage_error `path` is `-` together with --json: both write to standard output.
void check_output(std::string const& path, bool json);

/// @throws usage_error the file `path` is one of `inputs`, also by another name, or the sidecar of
/// one.
void must_not_overwrite(std::vector<std::filesystem::path> const& inputs, std::string const& path);

/// Opens the file, or for `-` standard output; text then goes to standard error.
/// @throws file_error it cannot be written.
std::unique_ptr<output_file> create_output(std::string const& path);

/// As create_output, for an array of these elements; see npy_writer.
std::unique_ptr<npy_writer> create_npy(std::string const& path, element_type const& type,
                                       std::span<std::size_t const> extents);

/// Opens the file, or for `-` standard input, which is read to its end.
/// @throws file_error as npy_reader.
npy_reader open_npy(std::string const& path);

}  // namespace fatlink::cli
