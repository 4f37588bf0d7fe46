// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fatlink/error.hpp"
#include "util/text/nearest.hpp"
#include "util/text/number.hpp"

namespace fatlink::cli {
namespace {

/// Options with a maximum below it take no number that is written with a unit.
constexpr std::uint64_t k_large_count = 1000;

/// --help shows it as TEXT:{ptx,lto}.
CLI::Validator one_of(std::string const& name, std::vector<std::string> const& words)
{
  auto const check = [name, words](std::string& text) {
    check_choice(name, text, words);
    return std::string{};
  };
  return {check, fmt::format("{{{}}}", fmt::join(words, ",")), "choice"};
}

double parse_seconds(std::string const& option, std::string const& text, double minimum,
                     double maximum)
{
  auto const value = detail::read_decimal(text);
  if (value && *value >= minimum && *value <= maximum) return *value;
  fail_usage(fmt::format("{}: '{}' is not a number of seconds from {} to {}", option, text, minimum,
                         maximum),
             text, "write it as 60 or 0.5");
}

std::string digits_of(std::string const& text)
{
  auto const position = text.find_first_of("0123456789");
  return position == std::string::npos ? "" : text.substr(position);
}

}  // namespace

void fail_usage(std::string message, std::string const& value, std::string hint, error_code code)
{
  throw usage_error(
      {.message = std::move(message), .input = value, .code = code, .hint = std::move(hint)});
}

std::string suggest(std::vector<std::string> const& words, std::string const& text)
{
  auto const begins = [&](std::string const& word) { return word.starts_with(text); };
  auto const match = std::find_if(words.begin(), words.end(), begins);
  auto const is_only = match != words.end() && std::none_of(match + 1, words.end(), begins);
  return is_only && text.size() > 2 ? *match : detail::nearest(words, text);
}

std::string did_you_mean(std::string const& word)
{
  return word.empty() ? "" : fmt::format("; did you mean '{}'?", word);
}

void check_choice(std::string const& option, std::string const& text,
                  std::vector<std::string> const& words)
{
  if (std::find(words.begin(), words.end(), text) != words.end()) return;
  fail_usage(fmt::format("{}: '{}' is not one of {}{}", option, text, fmt::join(words, ", "),
                         did_you_mean(suggest(words, text))),
             text, {},
             option == "--mode" ? error_code::unknown_link_mode : error_code::invalid_argument);
}

void check_device(std::string const& text)
{
  auto const is_ordinal = text.find_first_not_of("0123456789") == std::string::npos;
  if (text == "gpu" || text == "cpu" || text.starts_with("gpu:") || text.starts_with("cpu:") ||
      (is_ordinal && !text.empty()))
    return;
  std::vector<std::string> words{"gpu", "cpu"};
  if (auto const digits = digits_of(text); !digits.empty() && text.starts_with("gpu"))
    words.insert(words.begin(), "gpu:" + digits);
  fail_usage(
      fmt::format("--device: '{}' is not a device{}", text, did_you_mean(suggest(words, text))),
      text, "write gpu, gpu:N, cpu or cpu:TARGET, for example gpu:1 or cpu:sm_80",
      error_code::unknown_device);
}

std::uint64_t parse_count(std::string const& option, std::string const& text, count_range range)
{
  auto const value = detail::read_count(text);
  if (value && *value >= range.minimum && *value <= range.maximum) return *value;
  fail_usage(fmt::format("{}: '{}' is not a whole number from {} to {}", option, text,
                         range.minimum, range.maximum),
             text,
             range.maximum < k_large_count || range.minimum > 1
                 ? fmt::format("write a number from {} to {}", range.minimum, range.maximum)
                 : fmt::format("write it as {}", detail::k_count_forms));
}

CLI::Option* add_counts(CLI::App& verb, std::string const& name, std::vector<std::size_t>& values,
                        count_range range, std::string const& help)
{
  auto const store = [&values, name, range](std::vector<std::string> const& texts) {
    values.clear();
    for (auto const& text : texts) values.push_back(parse_count(name, text, range));
  };
  return verb.add_option_function<std::vector<std::string>>(name, store, help)
      ->type_name("N")
      ->delimiter(',');
}

CLI::Option* add_seconds(CLI::App& verb, std::string const& name, double& value, double minimum,
                         double maximum, std::string const& help)
{
  auto const store = [&value, name, minimum, maximum](std::string const& text) {
    value = parse_seconds(name, text, minimum, maximum);
  };
  return verb.add_option_function<std::string>(name, store, help)
      ->type_name("SECONDS")
      ->default_str(fmt::format("{}", value));
}

CLI::Option* add_choice(CLI::App& verb, std::string const& name, std::string& value,
                        std::vector<std::string> const& words, std::string const& help)
{
  return verb.add_option(name, value, help)->check(one_of(name, words))->capture_default_str();
}

CLI::Option* add_choice(CLI::App& verb, std::string const& name,
                        std::function<void(std::string const&)> const& store,
                        std::vector<std::string> const& words, std::string const& help)
{
  auto const long_name = name.substr(name.find("--"));
  return verb.add_option_function<std::string>(name, store, help)->check(one_of(long_name, words));
}

CLI::Option* add_choices(CLI::App& verb, std::string const& name, std::vector<std::string>& values,
                         std::vector<std::string> const& words, std::string const& help)
{
  return verb.add_option(name, values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(name, words))
      ->capture_default_str();
}

}  // namespace fatlink::cli
