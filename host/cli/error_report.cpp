// SPDX-License-Identifier: Apache-2.0
#include "error_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <sstream>

#include "fatlink/finding.hpp"
#include "terminal/streams.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

template <typename... Errors>
bool is_any(std::exception const& failure)
{
  return ((dynamic_cast<Errors const*>(&failure) != nullptr) || ...);
}

int status_of(std::exception const& failure)
{
  if (is_any<usage_error>(failure)) return k_usage;
  if (is_any<file_error>(failure)) return k_bad_file;
  if (is_any<refused_error, link_error, compile_error>(failure)) return k_refused;
  if (is_any<unavailable_error, device_error>(failure)) return k_unavailable;
  return k_defect;
}

void print_field(char const* name, std::string const& value)
{
  if (!value.empty()) print_error("  {:<7} {}\n", name, value);
}

void print_hint(std::string const& hint)
{
  if (!hint.empty()) print_error("  {}   {}\n", colored_error(meaning::hint, "hint:"), hint);
}

/// Whether a hint after `log` would be far from the message.
bool is_long(std::string const& log)
{
  constexpr std::ptrdiff_t k_most_lines = 10;
  return std::ranges::count(log, '\n') > k_most_lines;
}

void print_log(char const* title, std::string const& log)
{
  if (log.empty()) return;
  print_error("  {}\n", title);
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) print_error("    {}\n", line);
}

/// The details of `failure`; where an option helps that the library does not have, the hint names
/// it.
error_details readable_details(error const& failure)
{
  auto details = failure.details();
  if (details.code == error_code::refused_instruction) details.hint += ": --device gpu";
  if (details.code == "CUDA_ERROR_OUT_OF_MEMORY")
    details.hint = "use fewer --elements, or a GPU with more free memory";
  if (details.code == error_code::out_of_memory)
    details.hint =
        "use fewer --elements, smaller sizes (--set) or inputs, or raise the memory limit (ulimit "
        "-v)";
  return details;
}

/// The message of a usage error states everything that its code does.
void print_details(error const& failure)
{
  auto const details = readable_details(failure);
  print_error("fatlink: {} {}\n", colored_error(meaning::bad, "error:"), details.message);
  if (details.message.find(details.input) == std::string::npos)
    print_field("inputs:", details.input);
  if (failure.where() != stage::usage &&
      details.message.find(details.code.text()) == std::string::npos)
    print_field("code:", details.code.text());
  auto const is_of_folders = details.code == error_code::not_installed;
  auto const is_first = is_of_folders || is_long(details.log);
  if (is_first) print_hint(details.hint);
  print_log(is_of_folders ? "folders that were searched:" : "log:", details.log);
  if (!is_first) print_hint(details.hint);
}

/// The findings except the first error, which print_details has printed.
void print_other_findings(error const& failure)
{
  auto const* const refused = dynamic_cast<refused_error const*>(&failure);
  if (refused == nullptr) return;
  bool is_first_error = true;
  for (auto const& finding : refused->findings()) {
    if (finding.severity == severity::error && std::exchange(is_first_error, false)) continue;
    print_error("fatlink: {} {} [{}]\n",
                colored_error(meaning_of(finding.severity),
                              fmt::format("{}:", to_string(finding.severity))),
                finding.message, to_string(finding.id));
    print_hint(finding.hint);
  }
}

/// Calls `visit` with `failure`, or with an error that says what it is.
template <typename Visit>
auto with_error(std::exception const& failure, Visit const& visit)
{
  if (auto const* const cause = dynamic_cast<error const*>(&failure); cause != nullptr)
    return visit(*cause);
  if (is_any<std::bad_alloc>(failure))
    return visit(unavailable_error(stage::report, {.message = "out of memory",
                                                   .code = error_code::out_of_memory,
                                                   .hint = "use smaller inputs"}));
  return visit(
      error(stage::report, {.message = fmt::format("defect in fatlink: {}", failure.what()),
                            .code = error_code::defect,
                            .hint = "report it with the command line and the inputs"}));
}

template <typename Visit>
auto with_error(std::exception_ptr const& failure, Visit const& visit)
try {
  std::rethrow_exception(failure);
} catch (std::exception const& thrown) {
  return with_error(thrown, visit);
}

}  // namespace

void print_json(std::string_view schema, nlohmann::json object)
{
  object["schema"] = schema;
  auto const text = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  (void)std::fwrite(text.data(), 1, text.size(), stdout);  // main checks standard output at the end
  std::fflush(stdout);                                     // the process may end much later
}

nlohmann::json error_to_json(error const& failure)
{
  auto const details = readable_details(failure);
  nlohmann::json json{
      {"stage", to_string(failure.where())}, {"message", details.message}, {"input", details.input},
      {"code", details.code.text()},         {"log", details.log},         {"hint", details.hint}};
  if (auto const* refused = dynamic_cast<refused_error const*>(&failure);
      refused != nullptr && !refused->findings().empty())
    json["findings"] = findings_to_json(refused->findings());
  return json;
}

nlohmann::json finding_to_json(finding const& finding)
{
  return {
      {"id", to_string(finding.id)}, {"severity", to_string(finding.severity)},
      {"files", finding.files},      {"file", finding.files.empty() ? "" : finding.files.back()},
      {"symbol", finding.symbol},    {"message", finding.message},
      {"hint", finding.hint}};
}

nlohmann::json findings_to_json(std::vector<finding> const& findings)
{
  auto list = nlohmann::json::array();
  for (auto const& finding : findings) list.push_back(finding_to_json(finding));
  return list;
}

int report_failure(std::exception const& failure, bool json)
{
  return with_error(failure, [&](error const& cause) {
    print_details(cause);
    print_other_findings(cause);
    if (json) print_json("fatlink.error/1", {{"error", error_to_json(cause)}});
    return status_of(cause);
  });
}

error_output report_of(std::exception_ptr const& failure)
{
  return with_error(failure, [&](error const& cause) {
    return error_output{.message = readable_details(cause).message,
                        .json = error_to_json(cause),
                        .status = status_of(cause)};
  });
}

void print_device_failure(std::string const& device, std::exception_ptr const& failure)
{
  with_error(failure, [&](error const& cause) {
    auto details = readable_details(cause);
    details.message = fmt::format("device {}: {}", device, details.message);
    print_details(error(cause.where(), details));
    print_other_findings(cause);
  });
}

meaning meaning_of(severity severity)
{
  return severity == severity::error ? meaning::bad : meaning::warning;
}

std::size_t text_width(std::string_view text)
{
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char letter) { return (letter & 0xC0) != 0x80; }));
}

std::string cut_text(std::string text, std::size_t width)
{
  if (text_width(text) <= width) return text;
  while (!text.empty() && text_width(text) >= width) {
    while (text.size() > 1 && (text.back() & 0xC0) == 0x80) text.pop_back();
    text.pop_back();
  }
  while (text.ends_with(' ')) text.pop_back();
  return text + "…";
}

void print_warnings(std::vector<std::string> const& warnings)
{
  for (auto const& warning : warnings)
    print_error("fatlink: {} {}\n", colored_error(meaning::warning, "warning:"), warning);
}

}  // namespace fatlink::cli

fmt::format_context::iterator fmt::formatter<nlohmann::json>::format(nlohmann::json const& value,
                                                                     format_context& context) const
{
  auto const pattern = fmt::format("{{:{}}}", specification_);
  auto const print = [&](auto const& number) {
    return fmt::vformat_to(context.out(), pattern, fmt::make_format_args(number));
  };
  if (value.is_null()) return context.out();
  if (value.is_string()) return print(value.get_ref<std::string const&>());
  if (value.is_number_float()) return print(value.get<double>());
  if (value.is_number_unsigned()) return print(value.get<std::uint64_t>());
  if (value.is_number_integer()) return print(value.get<std::int64_t>());
  return print(value.dump());
}
