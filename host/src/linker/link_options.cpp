// SPDX-License-Identifier: Apache-2.0
#include "fatlink/link_options.hpp"

#include <algorithm>
#include <array>

#include "fatlink/error.hpp"
#include "linker/option_effects.hpp"
#include "linker/raw_options.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink {
namespace {

constexpr std::array k_fast_compile_names{"none", "min", "mid", "max"};

[[noreturn]] void refuse(std::string message, std::string input, std::string hint,
                         error_code code = error_code::invalid_argument)
{
  throw usage_error({.message = std::move(message),
                     .input = std::move(input),
                     .code = code,
                     .hint = std::move(hint)});
}

void check_range(char const* name, unsigned value, unsigned least, unsigned most)
{
  if (value >= least && value <= most) return;
  refuse(detail::format("<link_options::{}>: {} is not a number from {} to {}", name, value, least,
                        most),
         std::to_string(value), detail::format("set <link_options::{}> within that range", name));
}

void check_values(link_options const& options)
{
  if (options.max_registers)
    check_range("max_registers", *options.max_registers, k_least_registers, k_most_registers);
  if (options.threads) check_range("threads", *options.threads, 1, k_most_threads);
  if (options.optimization && *options.optimization != 0 && *options.optimization != 3)
    refuse(detail::format("<link_options::optimization>: {} is neither 0 nor 3",
                          *options.optimization),
           std::to_string(*options.optimization),
           "set it to 0 or 3, or leave it empty; nvJitLink knows only these two levels");
  if (auto const level = static_cast<int>(options.fast_compile);
      level < 0 || level >= static_cast<int>(k_fast_compile_names.size()))
    refuse(detail::format("fast_compile has no value {}", level), std::to_string(level),
           "use an enumerator of fatlink::fast_compile, fatlink/link_options.hpp");
}

/// Whether PTX allows `name` for a function or variable.
bool is_symbol(std::string_view name)
{
  auto const is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
  };
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && name.size() <= limits::k_name_bytes && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

/// `name` is the name of the field.
void check_names(char const* name, std::vector<std::string> const& symbols, char const* hint)
{
  if (symbols.size() > limits::k_kept_names)
    refuse(detail::format("<link_options::{}>: {} names, more than {}", name, symbols.size(),
                          limits::k_kept_names),
           detail::format("<link_options::{}>", name), "leave it empty to keep all");
  for (auto const& symbol : symbols)
    if (!is_symbol(symbol))
      refuse(detail::format("<link_options::{}>: '{}' is not the name of a symbol", name,
                            detail::printable_line(symbol)),
             detail::format("<link_options::{}>", name), hint);
}

/// Pairs of which nvJitLink fails or ignores one.
void check_pairs(link_options const& options)
{
  auto const is_fast = options.fast_compile != fast_compile::none;
  if (is_fast && options.optimization)
    refuse("<link_options::optimization> and <link_options::fast_compile> exclude each other",
           "<link_options::fast_compile>",
           "set either <link_options::optimization> or <link_options::fast_compile>");
  if (options.debug && options.optimization == 3U)
    refuse(
        "<link_options::optimization> 3 and <link_options::debug> exclude each other: ptxas does "
        "not "
        "optimize code for debuggers",
        "<link_options::debug>",
        "set either <link_options::optimization> or <link_options::debug>");
  if (options.debug && is_fast)
    refuse(
        "<link_options::fast_compile> and <link_options::debug> exclude each other: code for "
        "debuggers "
        "is not optimized",
        "<link_options::debug>",
        "set either <link_options::fast_compile> or <link_options::debug>");
  if (options.debug && options.line_info)
    refuse(
        "<link_options::line_info>: this option has no effect together with <link_options::debug>, "
        "which includes it",
        "<link_options::line_info>", "do not set <link_options::line_info>",
        error_code::option_has_no_effect);
  if (options.drop_unused_variables && !options.variables.empty())
    refuse(
        "<link_options::drop_unused_variables>: this option has no effect together with "
        "<link_options::variables>, which states what to keep",
        "<link_options::drop_unused_variables>", "do not set <link_options::drop_unused_variables>",
        error_code::option_has_no_effect);
}

}  // namespace

char const* to_string(fast_compile level) noexcept
{
  auto const index = static_cast<std::size_t>(level);
  return index < k_fast_compile_names.size() ? k_fast_compile_names[index] : "unknown";
}

void check_link_options(link_options const& options)
{
  check_values(options);
  check_names("kernels", options.kernels,
              "<ptx_interface::kernels> lists the names; those of C++ kernels are mangled");
  check_names("variables", options.variables,
              "<ptx_interface::variables> lists the names; those in C++ namespaces are mangled");
  detail::check_raw_options(options);
  check_pairs(options);
  detail::check_effects(options);
}

}  // namespace fatlink
