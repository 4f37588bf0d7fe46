// SPDX-License-Identifier: Apache-2.0
#include "linker/raw_options.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "fatlink/error.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

/// An option, without dashes and value, that fatlink does not pass on.
struct reserved_option {
  std::string_view name;
  std::string_view field;  ///< of link_options; empty: the option names a file or ends ptxas
};

// Source: `ptxas --help` of CUDA 13.0. Abbreviated names are unknown to ptxas.
constexpr std::array k_ptxas{
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
constexpr std::array k_nvvm{
    reserved_option{"opt", "link_options::optimization"},
    reserved_option{"Ofc", "link_options::fast_compile"},
    reserved_option{"Ofast-compile", "link_options::fast_compile"},
    reserved_option{"g", "link_options::debug"},
    reserved_option{"generate-line-info", "link_options::line_info"},
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
std::string_view name_of(std::string_view option)
{
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  option = option.substr(0, option.find('='));
  auto const is_level = option.size() > 1 && option[0] == 'O' &&
                        option.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_level ? option.substr(0, 1) : option;
}

bool is_word(std::string_view option)
{
  return std::all_of(option.begin(), option.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

void check(std::string_view tool, std::string const& option,
           std::span<reserved_option const> reserved)
{
  auto const* const one_word = "pass each option by itself, with its value after =: --name=value";
  if (option.size() < 2 || option.front() != '-')
    refuse(tool, option, "it does not begin with a dash", one_word);
  if (!is_word(option)) refuse(tool, option, "it holds a space or a control character", one_word);
  if (option.size() > limits::k_option_bytes)
    refuse(tool, option,
           detail::format("it has {} bytes, more than {}", option.size(), limits::k_option_bytes),
           one_word);
  for (auto const& entry : reserved) {
    if (name_of(option) != entry.name) continue;
    if (entry.field.empty())
      refuse(tool, option, "it names a file, and fatlink links without files", "remove it");
    refuse(tool, option, "fatlink has this option itself, and checks its value",
           detail::format("use {}", entry.field));
  }
}

void check_all(std::string_view tool, std::vector<std::string> const& options,
               std::span<reserved_option const> reserved)
{
  if (options.size() > limits::k_raw_options)
    throw usage_error({.message = detail::format("{} {} options: at most {} are passed on",
                                                 options.size(), tool, limits::k_raw_options),
                       .input = std::string(tool),
                       .code = error_code::invalid_argument,
                       .hint = "pass fewer"});
  for (auto const& option : options) check(tool, option, reserved);
}

}  // namespace

void check_raw_options(link_options const& options)
{
  check_all("ptxas", options.ptxas, k_ptxas);
  check_all("nvvm", options.nvvm, k_nvvm);
}

}  // namespace fatlink::detail
