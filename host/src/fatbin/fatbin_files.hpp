// SPDX-License-Identifier: Apache-2.0
// Writes a fatbin and its sidecar. Threads: no shared state.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fatbin/sidecar.hpp"
#include "fatlink/fatbin.hpp"
#include "util/files/output_file.hpp"

namespace fatlink::detail {

/// The path of the sidecar of the fatbin `output`: x.json of x.fatbin; of another name, x.bin,
/// x.bin.json, because x.json may be that of an x.fatbin.
std::filesystem::path packed_sidecar(std::filesystem::path output);

/// @throws usage_error `output` is a .json, or its sidecar would be that of another fatbin.
void check_fatbin_path(std::filesystem::path const& output);

/// Whose sidecar states the reference, if both have one.
enum class sidecar_precedence { output, inputs };

/// Writes `code` to `file` and its sidecar beside it: both, or neither. Each is put in place by
/// renaming a complete file, the sidecar first: a fatbin that is new is found with its sidecar. The
/// sidecar has the reference that one of `sidecars`, those of the inputs, or the one that is there
/// states, by `precedence`. Adds a warning where these differ.
/// @throws file_error a file cannot be written, or a sidecar is malformed. @throws usage_error the
/// sidecar that is there was written by hand, and would be replaced.
void write_fatbin_files(fatbin const& code, std::unique_ptr<output_file> file,
                        std::vector<sidecar_ptr> const& sidecars, sidecar_precedence precedence,
                        std::vector<std::string>& warnings);

}  // namespace fatlink::detail
