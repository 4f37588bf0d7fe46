// SPDX-License-Identifier: Apache-2.0
// Writes a fatbin and its sidecar, for the verbs that make fatbins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fatbin/fatbin_files.hpp"
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

/// As detail::write_fatbin_files; to standard output, devices and FIFOs without a sidecar.
void write_fatbin_files(fatbin const& code, std::string const& output,
                        std::vector<detail::sidecar_ptr> const& sidecars,
                        detail::sidecar_precedence precedence, std::vector<std::string>& warnings);

}  // namespace fatlink::cli
