// SPDX-License-Identifier: Apache-2.0
// Options whose values are checked while the command line is read. Each error names the option, the
// value and what is accepted.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Both inclusive.
struct count_range {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// A whole number as detail/number.hpp reads it.
/// @throws usage_error it is none, or out of range.
std::uint64_t parse_count(std::string const& option, std::string const& text, count_range range);

/// An option that takes one; `Integer` must hold the range.
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

/// An option that takes several, with commas.
CLI::Option* add_counts(CLI::App& verb, std::string const& name, std::vector<std::size_t>& values,
                        count_range range, std::string const& help);

/// An option that takes a number of seconds from `least` to `most`.
CLI::Option* add_seconds(CLI::App& verb, std::string const& name, double& value, double least,
                         double most, std::string const& help);

/// An option that takes one of `words`; `value` is its default.
CLI::Option* add_choice(CLI::App& verb, std::string const& name, std::string& value,
                        std::vector<std::string> const& words, std::string const& help);

/// An option that takes several of `words`, with commas; `values` are its default.
CLI::Option* add_choices(CLI::App& verb, std::string const& name, std::vector<std::string>& values,
                         std::vector<std::string> const& words, std::string const& help);

/// @throws usage_error `text` is none of `words`; offers the nearest.
void check_choice(std::string const& option, std::string const& text,
                  std::vector<std::string> const& words);

/// @throws usage_error `text` does not begin as a device does; offers the nearest.
void check_device(std::string const& text);

/// The word that was probably meant: the only one that begins with `text`, else the nearest, else
/// "".
std::string suggest(std::vector<std::string> const& words, std::string const& text);

/// "; did you mean 'run'?", or nothing for an empty word.
std::string did_you_mean(std::string const& word);

/// @throws usage_error
[[noreturn]] void fail_usage(std::string message, std::string const& value, std::string hint,
                             error_code code = error_code::invalid_argument);

}  // namespace fatlink::cli
