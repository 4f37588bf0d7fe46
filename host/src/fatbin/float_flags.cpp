// SPDX-License-Identifier: Apache-2.0
// The options text of an LTO-IR entry. nvcc writes -prec_div=1 and -fmad=1, nvFatbin documents
// -prec-div=1 and -fma=1, and neither checks what it is given; so every spelling of nvcc's, NVRTC's
// and nvJitLink's own options is read. Observed with nvcc and nvFatbin 12.9 to 13.5.
#include "fatlink/float_flags.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr std::string_view k_blanks = " \t\n\r";

/// Calls `take(option, value)` for each option, without its dashes: "prec_div", "1". The value is
/// what follows "=", or the next word if that is no option.
template <typename Take>
void each_option(std::string_view text, Take const& take)
{
  auto const next_word = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(k_blanks), text.size()));
    auto const word = text.substr(0, text.find_first_of(k_blanks));
    text.remove_prefix(word.size());
    return word;
  };
  for (auto word = next_word(); !word.empty();) {
    auto const option = word;
    word = next_word();
    if (!option.starts_with('-')) continue;
    auto const name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    auto const equals = name.find('=');
    if (equals != std::string_view::npos)
      take(option, name.substr(0, equals), name.substr(equals + 1));
    else
      take(option, name, word.starts_with('-') ? std::string_view() : word);
  }
}

/// Whether `name` is `known`, with "-" or "_" between its words.
bool is_named(std::string_view name, std::string_view known) noexcept
{
  return std::equal(name.begin(), name.end(), known.begin(), known.end(),
                    [](char a, char b) { return a == b || (a == '_' && b == '-'); });
}

std::optional<bool> parse_value(std::string_view value) noexcept
{
  if (value == "1" || value == "true") return true;
  if (value == "0" || value == "false") return false;
  return {};
}

/// The member of `flags` that an option sets; null for other options.
bool* flag_of(float_flags& flags, std::string_view name) noexcept
{
  if (is_named(name, "ftz")) return &flags.ftz;
  if (is_named(name, "prec-div")) return &flags.prec_div;
  if (is_named(name, "prec-sqrt")) return &flags.prec_sqrt;
  if (is_named(name, "fmad") || is_named(name, "fma")) return &flags.fmad;
  return nullptr;
}

/// Options of nvcc and nvFatbin that state nothing about floats.
bool is_other(std::string_view name) noexcept
{
  constexpr std::array k_others{"generate-line-info", "lineinfo",     "g",      "G",
                                "device-debug",       "maxrregcount", "maxreg", "arch"};
  return (name.size() == 2 && name.starts_with('O')) ||
         std::any_of(k_others.begin(), k_others.end(),
                     [&](char const* other) { return is_named(name, other); });
}

}  // namespace

float_flags parse_float_flags(std::string_view options) noexcept
{
  float_flags flags;
  each_option(options, [&](std::string_view, std::string_view name, std::string_view value) {
    if (is_named(name, "use-fast-math") && parse_value(value).value_or(true))
      flags = {.ftz = true, .prec_div = false, .prec_sqrt = false, .fmad = true};
    if (auto* const flag = flag_of(flags, name)) *flag = parse_value(value).value_or(*flag);
  });
  return flags;
}

bool states_float_flags(std::string_view options) noexcept
{
  auto is_stated = false;
  each_option(options, [&](std::string_view, std::string_view name, std::string_view value) {
    float_flags flags;
    is_stated = is_stated || is_named(name, "use-fast-math") ||
                (flag_of(flags, name) != nullptr && parse_value(value));
  });
  return is_stated;
}

std::vector<std::string> unknown_options(std::string_view options)
{
  std::vector<std::string> unknown;
  each_option(options, [&](std::string_view option, std::string_view name, std::string_view value) {
    float_flags flags;
    auto const is_flag = flag_of(flags, name) != nullptr;
    if ((is_flag && parse_value(value)) || is_named(name, "use-fast-math") || is_other(name))
      return;
    unknown.emplace_back(option);
  });
  return unknown;
}

std::string to_string(float_flags const& flags)
{
  return detail::format("-ftz={:d} -prec_div={:d} -prec_sqrt={:d} -fmad={:d}", flags.ftz,
                        flags.prec_div, flags.prec_sqrt, flags.fmad);
}

}  // namespace fatlink
