// SPDX-License-Identifier: Apache-2.0
// Reports errors: text on standard error, with --json also one object on standard output, and the
// exit status.
#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/preflight.hpp"

namespace fatlink::cli {

/// The form of a finding in the JSON of every verb.
nlohmann::json finding_to_json(finding const& finding);

/// The form of an error in the JSON of every verb.
nlohmann::json error_to_json(error const& failure);

/// Prints `object` on standard output with the member "schema": "fatlink.run/1" names a file of
/// docs/schemas and its version. Bytes that are not UTF-8, as in file names, are replaced.
void print_json(std::string_view schema, nlohmann::json object);

/// Prints `failure` and returns its exit status.
int report_failure(std::exception const& failure, bool json);

/// "fatlink: warning: …" lines on standard error.
void print_warnings(std::vector<std::string> const& warnings);

}  // namespace fatlink::cli
