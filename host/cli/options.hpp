// SPDX-License-Identifier: Apache-2.0
// Options whose values are checked while the command line is parsed. Each error names the option,
// the value and the accepted values.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Both limits are inclusive.
struct count_range {
  std::uint64_t minimum = 0;
  std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
};

/// A whole number in one of the forms of util/text/number.hpp.
/// @throws usage_error it is not a whole number, or out of range.
std::uint64_t parse_count(std::string const& option, std::string const& text, count_range range);

/// Adds an option that takes one count; `Integer` must be able to hold the range.
template <typename Integer>
CLI::Option* add_count(CLI::App& verb, std::string const& name, Integer& value, count_range range,
                       std::string const& help)
{
  auto const store = [&value, name, range](std::string const& text) {
    value = static_cast<Integer>(parse_count(name, text, range));
  };
  return verb.add_option_function<std::string>(name, store, help)
      ->type_name("N")
      ->default_str(std::to_string(value));
}

/// Adds an option that takes several counts, separated by commas.
CLI::Option* add_counts(CLI::App& verb, std::string const& name, std::vector<std::size_t>& values,
                        count_range range, std::string const& help);

/// Adds an option that takes a number of seconds from `minimum` to `maximum`.
CLI::Option* add_seconds(CLI::App& verb, std::string const& name, double& value, double minimum,
                         double maximum, std::string const& help);

/// Adds an option that takes one text and can be repeated; `type` is shown by --help.
template <typename Text>
CLI::Option* add_texts(CLI::App& verb, std::string const& name, std::vector<Text>& values,
                       std::string const& type, std::string const& help)
{
  return verb.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
}

/// Adds an option that takes one of `words`; `value` is its default.
CLI::Option* add_choice(CLI::App& verb, std::string const& name, std::string& value,
                        std::vector<std::string> const& words, std::string const& help);

/// Adds an option without default that takes one of `words` and passes it to `store`.
CLI::Option* add_choice(CLI::App& verb, std::string const& name,
                        std::function<void(std::string const&)> const& store,
                        std::vector<std::string> const& words, std::string const& help);

/// Adds an option that takes several of `words`, separated by commas; `values` is its default.
CLI::Option* add_choices(CLI::App& verb, std::string const& name, std::vector<std::string>& values,
                         std::vector<std::string> const& words, std::string const& help);

/// @throws usage_error `text` is not one of `words`; suggests the nearest.
void check_choice(std::string const& option, std::string const& text,
                  std::vector<std::string> const& words);

/// @throws usage_error `text` is neither the name of a device nor a list of them; suggests the
/// nearest.
void check_device(std::string const& text);

/// The word that `text` probably means: the only one that begins with it, or the nearest; "" if
/// there is neither.
std::string suggest(std::vector<std::string> const& words, std::string const& text);

/// "; did you mean 'run'?"; "" for an empty word.
std::string did_you_mean(std::string const& word);

/// @throws usage_error
[[noreturn]] void fail_usage(std::string message, std::string const& value, std::string hint,
                             error_code code = error_code::invalid_argument);

}  // namespace fatlink::cli
