// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "device/devices.hpp"
#include "fatlink/device.hpp"
#include "fatlink/devices.hpp"
#include "util/text/nearest.hpp"
#include "util/text/number.hpp"

namespace fatlink::cli {
namespace {

/// Options with a maximum below it take no number that is written with a unit.
constexpr std::uint64_t k_large_count = 1000;

/// CLI11 shows an option that takes one of two words as TEXT:{ptx,lto}.
constexpr char const* k_choices_start = ":{";

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

bool is_device(std::string const& text)
{
  return text == "gpu" || text == "cpu" || text.starts_with("gpu:") || text.starts_with("cpu:") ||
         (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos);
}

/// Characters of "2x" in "2xcpu"; 0 if it does not begin with a number of devices.
std::size_t count_digits(std::string const& text)
{
  auto const x = text.find_first_not_of("0123456789");
  return x != 0 && x != std::string::npos && text[x] == 'x' ? x + 1 : 0;
}

std::string digits_of(std::string const& text)
{
  auto const position = text.find_first_of("0123456789");
  return position == std::string::npos ? "" : text.substr(position);
}

[[noreturn]] void refuse_device(std::string const& text)
{
  std::vector<std::string> words{"gpu", "cpu", "all"};
  if (auto const digits = digits_of(text); !digits.empty() && text.starts_with("gpu"))
    words.insert(words.begin(), "gpu:" + digits);
  fail_usage(
      fmt::format("--device: '{}' is not a device{}", text, did_you_mean(suggest(words, text))),
      text,
      "write gpu, gpu:N, cpu or cpu:TARGET, for example gpu:1 or cpu:sm_80; several: all, gpu:0,1 "
      "or cpu,cpu",
      error_code::unknown_device);
}

std::vector<target> native_targets()
{
  std::string reason;
  std::vector<target> targets;
  for (auto const& gpu : list_gpus(reason)) targets.push_back(gpu.target);
  if (!targets.empty()) return targets;
  throw unavailable_error(
      stage::device,
      {.message = fmt::format("target 'native': there is no GPU: {}", reason),
       .input = "native",
       .code = error_code::gpu_unavailable,
       .hint =
           "name the target, for example sm_90, or run this command on the machine with the GPU"});
}

std::vector<std::string> accepted_words()
{
  std::vector<std::string> words{"native", "all"};
  for (auto const& target : known_targets()) words.push_back(target.name());
  return words;
}

/// "sm_" and a number, whether or not the architecture exists.
bool is_spelled_right(std::string const& word)
{
  auto const end = word.find_last_not_of("af");
  return word.starts_with("sm_") && word.find_first_not_of("0123456789", 3) > end;
}

/// `failure` with the nearest word in its message if `word` is misspelt.
usage_error add_suggestion(usage_error const& failure, std::string const& word)
{
  auto details = failure.details();
  auto const is_number = word.find_first_of("0123456789") == 0;
  auto const words = accepted_words();
  auto const meant = is_number ? "sm_" + word : word;
  auto const is_known = std::find(words.begin(), words.end(), meant) != words.end();
  if (!is_spelled_right(word))
    details.message += did_you_mean(is_known ? meant : suggest(words, meant));
  return usage_error(details);
}

target parse_target(std::string const& word)
try {
  return target(word);
} catch (usage_error const& failure) {
  throw add_suggestion(failure, word);
}

std::vector<target> expand(std::string const& word)
{
  if (word == "native") return native_targets();
  if (word == "all") return {known_targets().begin(), known_targets().end()};
  return {parse_target(word)};
}

}  // namespace

void fail_usage(std::string message, std::string const& value, std::string hint, error_code code)
{
  throw usage_error(
      {.message = std::move(message), .input = value, .code = code, .hint = std::move(hint)});
}

std::vector<CLI::App const*> commands_of(CLI::App const& app)
{
  return app.get_subcommands([](CLI::App const*) { return true; });
}

std::vector<std::string> names_of(CLI::Option const& option)
{
  std::vector<std::string> names;
  for (auto const& name : option.get_snames()) names.push_back('-' + name);
  for (auto const& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> choices_of(CLI::Option const& option)
{
  auto const type = option.get_type_name();
  auto const start = type.find(k_choices_start);
  if (start == std::string::npos) return {};
  std::istringstream words(type.substr(start + 2, type.find('}') - start - 2));
  std::vector<std::string> choices;
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

std::string value_type_of(CLI::Option const& option)
{
  auto const type = option.get_type_name();
  auto const own = type.substr(0, type.find(k_choices_start));
  return own == "TEXT" && option.get_positional() ? option.get_name(true) : own;
}

std::string default_of(CLI::Option const& option)
{
  auto const text = option.get_default_str();
  if (!text.starts_with('[')) return text;
  std::string list;
  for (auto const letter : text.substr(1, text.size() - 2))
    list += letter == ',' ? ", " : std::string(1, letter);
  return list;
}

bool takes_value(CLI::Option const& option)
{
  return option.get_items_expected_max() > 0;
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
  if (text == "all") return;
  auto const is_several = names_several_devices(text);
  for (std::size_t begin = 0; begin <= text.size();) {
    auto const end = std::min(text.find(',', begin), text.size());
    auto const item = text.substr(begin, end - begin);
    if (item != "all" && !is_device(is_several ? item.substr(count_digits(item)) : item))
      refuse_device(item);
    begin = end + 1;
  }
  if (is_several) (void)detail::parse_device_list(text);
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

void exclude_float_flags(CLI::App& verb)
{
  for (auto const* name : {"--ftz", "--prec-div", "--prec-sqrt", "--fma"})
    verb.get_option(name)->excludes("--use-fast-math");
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

std::vector<target> parse_targets(std::vector<std::string> const& words)
{
  std::vector<target> targets;
  for (auto const& word : words)
    for (auto const& expanded : expand(word))
      if (std::find(targets.begin(), targets.end(), expanded) == targets.end())
        targets.push_back(expanded);
  return targets;
}

CLI::Option* add_targets(CLI::App& verb, std::vector<std::string>& words, std::string const& help,
                         std::string const& more)
{
  return add_texts(verb, "--target", words, "TARGET",
                   help + "; native: this machine's GPUs; all: all supported architectures" + more)
      ->delimiter(',');
}

}  // namespace fatlink::cli
