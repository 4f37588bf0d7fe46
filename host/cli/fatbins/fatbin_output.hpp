// SPDX-License-Identifier: Apache-2.0
// The output of the verbs that make fatbins: the option, the fatbin with its sidecar, and what is
// said of it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatbin/fatbin_files.hpp"
#include "fatlink/fatbin.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Adds --output, of a fatbin.
void add_fatbin_output(CLI::App& verb, std::string& output);

/// @throws usage_error the fatbin or its sidecar would replace one of `inputs`, `output` is a
/// .json, or it is `-` together with --json.
void check_fatbin_output(std::string const& output,
                         std::vector<std::filesystem::path> const& inputs, bool json);

/// As detail::write_fatbin_files; to standard output, devices and FIFOs without a sidecar.
void write_fatbin_files(fatbin const& code, std::string const& output,
                        std::vector<detail::sidecar_ptr> const& sidecars,
                        detail::sidecar_precedence precedence, std::vector<std::string>& warnings);

/// What every verb that writes a fatbin says of it: "output", "bytes", "sha256", "entries",
/// "warnings", and "contract" and "sidecar" where there are any.
nlohmann::json describe_output(fatbin const& code, std::string const& output,
                               std::vector<std::string> const& warnings);

}  // namespace fatlink::cli
