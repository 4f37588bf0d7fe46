// SPDX-License-Identifier: Apache-2.0
#include "error_report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fatlink/preflight.hpp"
#include "option_hints.hpp"
#include "terminal/standard_streams.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

int status_of(std::exception const& failure)
{
  auto const is = [&]<typename Error>(Error const*) {
    return dynamic_cast<Error const*>(&failure) != nullptr;
  };
  if (is(static_cast<usage_error const*>(nullptr))) return k_usage;
  if (is(static_cast<file_error const*>(nullptr))) return k_bad_file;
  if (is(static_cast<refused_error const*>(nullptr))) return k_refused;
  if (is(static_cast<link_error const*>(nullptr))) return k_refused;
  if (is(static_cast<unavailable_error const*>(nullptr))) return k_unavailable;
  if (is(static_cast<device_error const*>(nullptr))) return k_unavailable;
  return k_defect;
}

void print_field(char const* name, std::string const& value)
{
  if (!value.empty()) print_error("  {:<7} {}\n", name, value);
}

void print_log(std::string const& log)
{
  if (log.empty()) return;
  print_error("  log:\n");
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) print_error("    {}\n", line);
}

/// The message of a usage error states all that its code does.
void print_details(error const& failure)
{
  auto const& details = failure.details();
  print_error("fatlink: error: {}\n", details.message);
  if (details.message.find(details.input) == std::string::npos)
    print_field("inputs:", details.input);
  if (failure.where() != stage::usage &&
      details.message.find(details.code.text()) == std::string::npos)
    print_field("code:", details.code.text());
  print_log(details.log);
  print_field("hint:", hint_of(details));
}

/// The error itself is the first finding; these are the others.
void print_other_findings(refused_error const& refused)
{
  bool first = true;
  for (auto const& found : refused.findings()) {
    if (found.severity == severity::error && std::exchange(first, false)) continue;
    print_error("fatlink: {}: {} [{}]\n", to_string(found.severity), found.message,
                to_string(found.id));
    print_field("hint:", found.hint);
  }
}

}  // namespace

void print_json(std::string_view schema, nlohmann::json object)
{
  object["schema"] = schema;
  auto const text = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  (void)std::fwrite(text.data(), 1, text.size(), stdout);  // main checks standard output at the end
  std::fflush(stdout);                                     // the process may take a while to end
}

nlohmann::json error_to_json(error const& failure)
{
  auto const& details = failure.details();
  nlohmann::json json{
      {"stage", to_string(failure.where())}, {"message", details.message}, {"input", details.input},
      {"code", details.code.text()},         {"log", details.log},         {"hint", hint_of(details)}};
  if (auto const* refused = dynamic_cast<refused_error const*>(&failure); refused != nullptr)
    for (auto const& found : refused->findings())
      json["findings"].push_back(finding_to_json(found));
  return json;
}

nlohmann::json finding_to_json(finding const& found)
{
  auto json = nlohmann::json{
      {"id", to_string(found.id)}, {"severity", to_string(found.severity)},
      {"files", found.files},      {"file", found.files.empty() ? "" : found.files.back()},
      {"symbol", found.symbol},    {"message", found.message},
      {"hint", found.hint}};
  return json;
}

int report_failure(std::exception const& failure, bool json)
{
  auto const* known = dynamic_cast<error const*>(&failure);
  if (known == nullptr) {
    error const defect(stage::report,
                       {.message = fmt::format("defect in fatlink: {}", failure.what()),
                        .code = error_code::defect,
                        .hint = "please report it with the command line and the inputs"});
    return report_failure(defect, json);
  }
  print_details(*known);
  if (auto const* refused = dynamic_cast<refused_error const*>(known); refused != nullptr)
    print_other_findings(*refused);
  if (json) print_json("fatlink.error/1", {{"error", error_to_json(*known)}});
  return status_of(failure);
}

void print_warnings(std::vector<std::string> const& warnings)
{
  for (auto const& warning : warnings) print_error("fatlink: warning: {}\n", warning);
}

}  // namespace fatlink::cli
