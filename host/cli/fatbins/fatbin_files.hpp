// SPDX-License-Identifier: Apache-2.0
// Writes a fatbin and its sidecar, for the verbs that make fatbins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatbin/sidecar.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::cli {

/// Whether a sidecar can be beside `output`: not for standard output, devices and FIFOs.
bool has_sidecar(std::string const& output);

/// The path of the sidecar of the fatbin `output`: x.json of x.fatbin; of another name, x.bin,
/// x.bin.json, because x.json may be that of an x.fatbin.
std::string sidecar_name(std::string const& output);

/// @throws usage_error the fatbin or its sidecar would replace one of `inputs`, `output` is a
/// .json,
///   or it is `-` together with --json.
void check_fatbin_output(std::string const& output,
                         std::vector<std::filesystem::path> const& inputs, bool json);

/// Whose sidecar states the reference, if both have one.
enum class sidecar_precedence { output, inputs };

/// Writes `code` and its sidecar: both, or neither. Each is put in place by renaming a complete
/// file, the sidecar first: a fatbin that is new is found with its sidecar. The sidecar has the
/// reference that one of `sidecars`, those of the inputs, or the one that is there states,
/// by `precedence`. Adds a warning where these differ.
/// @throws file_error a file cannot be written, or a sidecar is malformed.
void write_fatbin_files(fatbin const& code, std::string const& output,
                        std::vector<detail::sidecar_ptr> const& sidecars,
                        sidecar_precedence precedence, std::vector<std::string>& warnings);

}  // namespace fatlink::cli
