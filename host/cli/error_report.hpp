// SPDX-License-Identifier: Apache-2.0
// What all verbs print: JSON objects, warnings, and errors: text on standard error, with --json
// also one object on standard output, and the exit status.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/finding.hpp"
#include "terminal/streams.hpp"

namespace fatlink::cli {

/// The form of a finding in the JSON of every verb.
nlohmann::json finding_to_json(finding const& finding);

/// A list of findings in this form.
nlohmann::json findings_to_json(std::vector<finding> const& findings);

/// The form of an error in the JSON of every verb.
nlohmann::json error_to_json(error const& failure);

/// Prints `object` on standard output with the member "schema": "fatlink.run/2" names a file of
/// docs/schemas and its version. Bytes that are not UTF-8, as in file names, are replaced.
void print_json(std::string_view schema, nlohmann::json object);

/// Prints `failure` and returns its exit status.
int report_failure(std::exception const& failure, bool json);

/// Why one of several devices failed.
struct error_output {
  std::string message = {};  ///< in one line
  nlohmann::json json = {};  ///< as error_to_json
  int status = 0;            ///< the exit status of the error
};
error_output report_of(std::exception_ptr const& failure);

/// As report_failure, with the name of the device: "fatlink: error: device gpu:1: …".
void print_device_failure(std::string const& device, std::exception_ptr const& failure);

/// How a finding of this severity is shown.
meaning meaning_of(severity severity);

/// The columns that `text` takes, of characters of one column each.
std::size_t text_width(std::string_view text);

/// `text` in at most `width` columns; "…" stands for what is left out.
std::string cut_text(std::string text, std::size_t width);

/// "fatlink: warning: …" lines on standard error.
void print_warnings(std::vector<std::string> const& warnings);

}  // namespace fatlink::cli

/// A member of a report in text: a string or number in the format of its type, nothing for null.
template <>
struct fmt::formatter<nlohmann::json> {
  constexpr auto parse(format_parse_context& context)
  {
    auto const* end = context.begin();
    while (end != context.end() && *end != '}') ++end;
    specification_ = {context.begin(), static_cast<std::size_t>(end - context.begin())};
    return end;
  }
  format_context::iterator format(nlohmann::json const& value, format_context& context) const;

 private:
  std::string_view specification_;
};
