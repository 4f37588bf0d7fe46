// SPDX-License-Identifier: Apache-2.0
#include "linker/raw_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "fatlink/error.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

/// An option, without dashes and value, whose refusal can say more than that it is not allowed.
struct reserved_option {
  std::string_view name;
  std::string_view field;  ///< of link_options; empty: the option names a file
};

// Source: `ptxas --help` of CUDA 13.0.
constexpr std::array k_refused_ptxas{
    reserved_option{"O", "link_options::optimization"},
    reserved_option{"opt-level", "link_options::optimization"},
    reserved_option{"Ofc", "link_options::fast_compile"},
    reserved_option{"Ofast-compile", "link_options::fast_compile"},
    reserved_option{"maxrregcount", "link_options::max_registers"},
    reserved_option{"g", "link_options::debug"},
    reserved_option{"device-debug", "link_options::debug"},
    reserved_option{"lineinfo", "link_options::line_info"},
    reserved_option{"generate-line-info", "link_options::line_info"},
    reserved_option{"split-compile", "link_options::threads"},
    reserved_option{"device-stack-protector", "link_options::stack_protector"},
    reserved_option{"fmad", "link_options::fma"},
    reserved_option{"arch", "link_options::target"},
    reserved_option{"gpu-name", "link_options::target"},
    reserved_option{"e", "link_options::kernels"},
    reserved_option{"entry", "link_options::kernels"},
    reserved_option{"o", ""},
    reserved_option{"output-file", ""},
    reserved_option{"optf", ""},
    reserved_option{"options-file", ""},
};

// Source: the libNVVM API reference of CUDA 13.0, "nvvmCompileProgram".
constexpr std::array k_refused_nvvm{
    reserved_option{"opt", "link_options::optimization"},
    reserved_option{"Ofc", "link_options::fast_compile"},
    reserved_option{"Ofast-compile", "link_options::fast_compile"},
    reserved_option{"g", "link_options::debug"},
    reserved_option{"generate-line-info", "link_options::line_info"},
    reserved_option{"nvvm-latest", "link_options::latest_nvvm"},
    reserved_option{"ftz", "link_options::ftz"},
    reserved_option{"prec-div", "link_options::prec_div"},
    reserved_option{"prec-sqrt", "link_options::prec_sqrt"},
    reserved_option{"fma", "link_options::fma"},
    reserved_option{"split-compile", "link_options::threads"},
    reserved_option{"arch", "link_options::target"},
};

[[noreturn]] void refuse(std::string_view tool, std::string const& option, std::string_view cause,
                         std::string hint)
{
  throw usage_error(
      {.message = detail::format("{} option '{}': {}", tool, printable_line(option), cause),
       .input = printable_line(option),
       .code = error_code::invalid_argument,
       .hint = std::move(hint)});
}

/// "maxrregcount" of "--maxrregcount=32", "O" of "-O3".
std::string_view bare_name_of(std::string_view option)
{
  option = name_of_option(option);
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  auto const is_level = option.size() > 1 && option[0] == 'O' &&
                        option.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_level ? option.substr(0, 1) : option;
}

/// Calls `visit` for each part of `text`.
template <typename Visit>
void split(std::string_view text, char separator, Visit const& visit)
{
  for (auto end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    visit(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  visit(text);
}

bool is_one_of(std::string_view words, std::string_view value)
{
  auto is_listed = false;
  split(words, '|', [&](std::string_view word) { is_listed = is_listed || word == value; });
  return is_listed;
}

bool is_number(std::string_view text, raw_option const& option)
{
  unsigned value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= option.least &&
         value <= option.most;
}

bool are_numbers(std::string_view value, raw_option const& option)
{
  std::size_t count = 0;
  auto are_valid = true;
  split(value, ',', [&](std::string_view text) {
    ++count;
    are_valid = are_valid && is_number(text, option);
  });
  return are_valid && count <= option.numbers;
}

/// "=24..255", "=ca|cg|cs", or nothing.
std::string describe_values(raw_option const& option)
{
  if (!option.words.empty()) return detail::format("={}", option.words);
  if (option.most == 0) return {};
  return detail::format("={}..{}{}", option.least, option.most, option.numbers == 1 ? "" : ",...");
}

/// `value`: with its "="; empty: none.
bool has_valid_value(std::string_view value, raw_option const& option)
{
  if (option.words.empty() && option.most == 0) return value.empty();
  if (value.size() < 2) return false;
  value.remove_prefix(1);
  return option.words.empty() ? are_numbers(value, option) : is_one_of(option.words, value);
}

bool is_word(std::string_view option)
{
  return std::all_of(option.begin(), option.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// What a tool is given: its name, the options that are passed on, and those that fatlink has.
struct tool {
  std::string_view name;
  std::span<raw_option const> allowed;
  std::span<reserved_option const> reserved;
};

void check_text(tool const& tool, std::string const& option)
{
  auto const* const one_word = "pass each option by itself, with its value after =: --name=value";
  if (option.size() < 2 || option.front() != '-')
    refuse(tool.name, option, "it does not begin with a dash", one_word);
  if (!is_word(option))
    refuse(tool.name, option, "it holds a space or a control character", one_word);
  if (option.size() > limits::k_option_bytes)
    refuse(tool.name, option,
           detail::format("it has {} bytes, more than {}", option.size(), limits::k_option_bytes),
           one_word);
}

void check_reserved(tool const& tool, std::string const& option)
{
  for (auto const& entry : tool.reserved) {
    if (bare_name_of(option) != entry.name) continue;
    if (entry.field.empty())
      refuse(tool.name, option, "it names a file, and fatlink links without files", "remove it");
    refuse(tool.name, option, "fatlink has this option itself, and checks its value",
           detail::format("use <{}>", entry.field));
  }
}

std::string list_options(std::span<raw_option const> options)
{
  std::string text;
  for (auto const& option : options) text += (text.empty() ? "" : ", ") + to_string(option);
  return text;
}

void check_allowed(tool const& tool, std::string const& option)
{
  auto const name = name_of_option(option);
  auto const* const entry = std::find_if(
      tool.allowed.data(), tool.allowed.data() + tool.allowed.size(),
      [&](raw_option const& known) { return known.name == name || known.short_name == name; });
  if (entry == tool.allowed.data() + tool.allowed.size())
    refuse(tool.name, option,
           "it is not one of those that are known to change nothing but code and messages",
           detail::format("allowed are {}", list_options(tool.allowed)));
  if (!has_valid_value(std::string_view(option).substr(name.size()), *entry))
    refuse(tool.name, option, "it has a value that is not allowed",
           detail::format("write {}", to_string(*entry)));
}

void check_all(tool const& tool, std::vector<std::string> const& options)
{
  if (options.size() > limits::k_raw_options)
    throw usage_error({.message = detail::format("{} {} options: at most {} are passed on",
                                                 options.size(), tool.name, limits::k_raw_options),
                       .input = std::string(tool.name),
                       .code = error_code::invalid_argument,
                       .hint = "pass fewer"});
  for (auto const& option : options) {
    check_text(tool, option);
    check_reserved(tool, option);
    check_allowed(tool, option);
  }
}

}  // namespace

std::string to_string(raw_option const& option)
{
  return detail::format("{}{}", option.name, describe_values(option));
}

std::string_view name_of_option(std::string_view option) noexcept
{
  return option.substr(0, option.find('='));
}

void check_raw_options(link_options const& options)
{
  check_all({"ptxas", allowed_ptxas_options(), k_refused_ptxas}, options.ptxas);
  check_all({"nvvm", allowed_nvvm_options(), k_refused_nvvm}, options.nvvm);
}

}  // namespace fatlink::detail
