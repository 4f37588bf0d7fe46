// SPDX-License-Identifier: Apache-2.0
#include "fatlink/link_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "fatlink/error.hpp"
#include "fatlink/preflight.hpp"
#include "linker/link_options.hpp"
#include "preflight/entries.hpp"
#include "toolkit/link_in_process.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr std::array k_fast_compile_names{"none", "min", "mid", "max"};

[[noreturn]] void fail_option(std::string message, std::string input, std::string hint,
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
  fail_option(detail::format("<link_options::{}>: {} is not a number from {} to {}", name, value,
                             least, most),
              std::to_string(value),
              detail::format("set <link_options::{}> within that range", name));
}

void check_values(link_options const& options)
{
  if (options.max_registers)
    check_range("max_registers", *options.max_registers, k_least_registers, k_most_registers);
  if (options.threads) check_range("threads", *options.threads, 1, k_most_threads);
  if (options.optimization && *options.optimization != 0 && *options.optimization != 3)
    fail_option(detail::format("<link_options::optimization>: {} is neither 0 nor 3",
                               *options.optimization),
                std::to_string(*options.optimization),
                "set it to 0 or 3, or leave it empty; nvJitLink knows only these two levels");
  if (auto const level = static_cast<int>(options.fast_compile);
      level < 0 || level >= static_cast<int>(k_fast_compile_names.size()))
    fail_option(detail::format("fast_compile has no value {}", level), std::to_string(level),
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
    fail_option(detail::format("<link_options::{}>: {} names, more than {}", name, symbols.size(),
                               limits::k_kept_names),
                detail::format("<link_options::{}>", name), "leave it empty to keep all");
  for (auto const& symbol : symbols)
    if (!is_symbol(symbol))
      fail_option(detail::format("<link_options::{}>: '{}' is not the name of a symbol", name,
                                 detail::printable_line(symbol)),
                  detail::format("<link_options::{}>", name), hint);
}

/// Pairs of which nvJitLink fails or ignores one.
void check_pairs(link_options const& options)
{
  auto const is_fast = options.fast_compile != fast_compile::none;
  if (is_fast && options.optimization)
    fail_option("<link_options::optimization> and <link_options::fast_compile> exclude each other",
                "<link_options::fast_compile>",
                "set either <link_options::optimization> or <link_options::fast_compile>");
  if (options.debug && options.optimization == 3U)
    fail_option(
        "<link_options::optimization> 3 and <link_options::debug> exclude each other: ptxas does "
        "not "
        "optimize code for debuggers",
        "<link_options::debug>",
        "set either <link_options::optimization> or <link_options::debug>");
  if (options.debug && is_fast)
    fail_option(
        "<link_options::fast_compile> and <link_options::debug> exclude each other: code for "
        "debuggers "
        "is not optimized",
        "<link_options::debug>",
        "set either <link_options::fast_compile> or <link_options::debug>");
  if (options.debug && options.line_info)
    fail_option(
        "<link_options::line_info>: this option has no effect together with <link_options::debug>, "
        "which includes it",
        "<link_options::line_info>", "do not set <link_options::line_info>",
        error_code::option_has_no_effect);
  if (options.drop_unused_variables && !options.variables.empty())
    fail_option(
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

namespace fatlink::detail {
namespace {

constexpr bool k_on = true;
constexpr bool k_no = false;

// The columns: lto mode to a cubin, lto mode to PTX, ptx mode to a cubin, ptx mode to a
// ptx_set, sass mode to a cubin, lto mode to LTO-IR. A relocatable cubin is like a cubin.
constexpr std::array k_effects{
    option_effect{"link_options::allow_calls",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.allow_calls; }},
    option_effect{"link_options::whole_archive",
                  {k_on, k_on, k_on, k_on, k_on, k_on},
                  [](link_options const& o) { return o.whole_archive; }},
    option_effect{"link_options::kernels",
                  {k_on, k_on, k_on, k_on, k_on, k_no},
                  [](link_options const& o) { return !o.kernels.empty(); }},
    option_effect{"link_options::variables",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return !o.variables.empty(); }},
    option_effect{"link_options::drop_unused_variables",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return o.drop_unused_variables; }},
    option_effect{"link_options::max_registers",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.max_registers.has_value(); }},
    option_effect{"link_options::optimization",
                  {k_on, k_on, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.optimization.has_value(); }},
    option_effect{"link_options::fast_compile",
                  {k_on, k_on, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.fast_compile != fast_compile::none; }},
    option_effect{"link_options::line_info",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.line_info; }},
    option_effect{"link_options::debug",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.debug; }},
    option_effect{"link_options::ftz",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.ftz.has_value(); }},
    option_effect{"link_options::prec_div",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.prec_div.has_value(); }},
    option_effect{"link_options::prec_sqrt",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.prec_sqrt.has_value(); }},
    option_effect{"link_options::fma",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.fma.has_value(); }},
    option_effect{"link_options::stack_protector",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.stack_protector; }},
    option_effect{"link_options::latest_nvvm",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return o.latest_nvvm; }},
    option_effect{"link_options::threads",
                  {k_on, k_on, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.threads.has_value(); }},
    option_effect{"link_options::driver_cache",
                  {k_on, k_on, k_on, k_no, k_on, k_on},
                  [](link_options const& o) { return !o.driver_cache; }},
    option_effect{"link_options::ptxas",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return !o.ptxas.empty(); }},
    option_effect{"link_options::nvvm",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return !o.nvvm.empty(); }},
    option_effect{"link_options::require_inlined",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return o.require_inlined; }},
};

/// Where the option has no effect.
std::string_view link_kind_text(link_kind kind)
{
  switch (kind) {
    case link_kind::lto_cubin:
      return "in lto mode";
    case link_kind::lto_ptx:
      return "on emitted PTX, which ptxas has not compiled";
    case link_kind::ptx_cubin:
      return "in ptx mode";
    case link_kind::ptx_set:
      return "in ptx mode on the reference device, for which nvJitLink is not used";
    case link_kind::sass:
      return "in sass mode, which compiles nothing";
    case link_kind::lto_ltoir:
      return "on emitted LTO-IR, which nothing has compiled";
  }
  return "in this link";
}

std::string remedy(option_effect const& option, link_kind kind)
{
  auto const remove = detail::format("do not set <{}>", option.field);
  if (kind == link_kind::lto_ptx)
    return remove + ", or emit a cubin for a GPU: <image_kind::cubin>";
  if (kind == link_kind::lto_ltoir)
    return remove + ", but for the link that has the emitted LTO-IR as an input";
  if (kind == link_kind::ptx_set && !option.in(link_kind::lto_ptx))
    return remove + ", or link for a GPU";
  if (!option.in(link_kind::lto_cubin)) return remove;
  return remove + ", or link in lto mode: <link_mode::lto>";
}

}  // namespace

link_kind link_kind_of(link_mode mode, image_kind emit) noexcept
{
  if (emit == image_kind::ptx_set) return link_kind::ptx_set;
  if (mode == link_mode::ptx) return link_kind::ptx_cubin;
  if (mode == link_mode::sass) return link_kind::sass;
  if (emit == image_kind::ltoir) return link_kind::lto_ltoir;
  return emit == image_kind::ptx ? link_kind::lto_ptx : link_kind::lto_cubin;
}

std::span<option_effect const> option_effects() noexcept
{
  return k_effects;
}

void check_effects(link_options const& options)
{
  auto const kind = link_kind_of(options.mode, options.emit);
  for (auto const& option : k_effects)
    if (option.is_set(options) && !option.in(kind))
      throw usage_error({.message = detail::format("<{}>: this option has no effect {}",
                                                   option.field, link_kind_text(kind)),
                         .input = detail::format("<{}>", option.field),
                         .code = error_code::option_has_no_effect,
                         .hint = remedy(option, kind)});
}

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

[[noreturn]] void fail_option(std::string_view tool, std::string const& option,
                              std::string_view cause, std::string hint)
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
    fail_option(tool.name, option, "it does not begin with a dash", one_word);
  if (!is_word(option))
    fail_option(tool.name, option, "it holds a space or a control character", one_word);
  if (option.size() > limits::k_option_bytes)
    fail_option(
        tool.name, option,
        detail::format("it has {} bytes, more than {}", option.size(), limits::k_option_bytes),
        one_word);
}

void check_reserved(tool const& tool, std::string const& option)
{
  for (auto const& entry : tool.reserved) {
    if (bare_name_of(option) != entry.name) continue;
    if (entry.field.empty())
      fail_option(tool.name, option, "it names a file, and fatlink links without files",
                  "remove it");
    fail_option(tool.name, option, "fatlink has an option of its own for it, and checks its value",
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
    fail_option(tool.name, option, "it may change more than the code and messages",
                detail::format("allowed are {}", list_options(tool.allowed)));
  if (!has_valid_value(std::string_view(option).substr(name.size()), *entry))
    fail_option(tool.name, option, "it has a value that is not allowed",
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

namespace {

constexpr std::string_view k_loads = "ca|cg|cs|lu|cv";
constexpr std::string_view k_stores = "wb|cg|cs|wt";

// Source: `ptxas --help` of CUDA 13.0. Values as ptxas accepts them without a warning, measured;
// it ignores numbers out of range. Left out: what link_options has, what names files, and
//   compile-only, extensible-whole-program,      other kinds of images
//   compile-as-tools-patch, preserve-relocs,
//   position-independent-code
//   sanitize                                     code that calls a tool that is not linked
//   input-as-string, machine, help, version,     not about code
//   list-version, compiler-annotations,
//   suppress-debug-info
//   legacy-bar-warp-wide-behavior                without effect since sm_70
constexpr std::array k_ptxas{
    raw_option{"--allow-expensive-optimizations", "-allow-expensive-optimizations", "true|false"},
    raw_option{"--def-load-cache", "-dlcm", k_loads},
    raw_option{"--def-store-cache", "-dscm", k_stores},
    raw_option{"--device-function-maxrregcount", "-func-maxrregcount", {}, 24, 255},
    raw_option{"--disable-optimizer-constants", "-disable-optimizer-consts"},
    raw_option{"--disable-warnings", "-w"},
    raw_option{"--dont-merge-basicblocks", "-no-bb-merge"},
    raw_option{"--force-load-cache", "-flcm", k_loads},
    raw_option{"--force-store-cache", "-fscm", k_stores},
    raw_option{"--g-tensor-memory-access-check", "-g-tmem-access-check"},
    raw_option{"--gno-tensor-memory-access-check", "-gno-tmem-access-check"},
    raw_option{"--make-errors-visible-at-exit", "-make-errors-visible-at-exit"},
    raw_option{"--maxntid", "-maxntid", {}, 1, 1024, 3},
    raw_option{"--minnctapersm", "-minnctapersm", {}, 1, 32},
    raw_option{"--optimize-float-atomics", "-opt-fp-atomics"},
    raw_option{"--override-directive-values", "-override-directive-values"},
    raw_option{"--register-usage-level", "-regUsageLevel", {}, 0, 10},
    raw_option{"--return-at-end", "-ret-end"},
    raw_option{"--sp-bounds-check", "-sp-bounds-check"},
    raw_option{"--suppress-async-bulk-multicast-advisory-warning",
               "-suppress-async-bulk-multicast-advisory-warning"},
    raw_option{"--suppress-double-demote-warning", "-suppress-double-demote-warning"},
    raw_option{"--suppress-sparse-mma-advisory-info", "-suppress-sparse-mma-advisory-info"},
    raw_option{"--suppress-stack-size-warning", "-suppress-stack-size-warning"},
    raw_option{"--verbose", "-v"},
    raw_option{"--warn-on-double-precision-use", "-warn-double-usage"},
    raw_option{"--warn-on-local-memory-usage", "-warn-lmem-usage"},
    raw_option{"--warn-on-spills", "-warn-spills"},
    raw_option{"--warning-as-error", "-Werror"},
};

// Source: the libNVVM API reference of CUDA 13.0, "nvvmCompileProgram". Options that it does not
// document are not passed on: -host-ref-ek=x, for example, drops every kernel without a word.
constexpr std::array k_nvvm{
    raw_option{"-jump-table-density", "-jump-table-density", {}, 0, 101},
};

}  // namespace

std::span<raw_option const> allowed_ptxas_options() noexcept
{
  return k_ptxas;
}

std::span<raw_option const> allowed_nvvm_options() noexcept
{
  return k_nvvm;
}

namespace {

bool is_part_of_name(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

/// Whether `line` has `name` as a whole word.
bool has_word(std::string_view line, std::string_view name)
{
  for (auto position = line.find(name); position != std::string_view::npos;
       position = line.find(name, position + 1)) {
    auto const end = position + name.size();
    // ptxas writes the name with none, one or two dashes.
    auto const begin = line.find_last_not_of('-', position - 1);
    auto const begins =
        position == 0 || begin == std::string_view::npos || !is_part_of_name(line[begin]);
    if (begins && (end == line.size() || !is_part_of_name(line[end]))) return true;
  }
  return false;
}

/// The line about options that names `option`; empty: there is none.
std::string refusal_of(std::string const& option, std::string const& log)
{
  auto name = name_of_option(option);
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  for (auto const& line : lines_of(log))
    if (line.find("option") != std::string::npos && has_word(line, name) &&
        line.find("warning") == std::string::npos)
      return line;
  return {};
}

}  // namespace

error_details name_refused_option(error_details failure, link_options const& options)
{
  auto const name_first = [&](std::string_view tool, std::vector<std::string> const& texts) {
    for (auto const& option : texts) {
      auto const line = refusal_of(option, failure.log);
      if (line.empty()) continue;
      failure.message = detail::format("{} option '{}': this nvJitLink does not accept it: {}",
                                       tool, printable_line(option), line);
      failure.input = printable_line(option);
      failure.hint = detail::format(
          "remove it from <link_options::{}>; <nvjitlink::path is> the one that was opened", tool);
      return true;
    }
    return false;
  };
  if (!name_first("ptxas", options.ptxas)) (void)name_first("nvvm", options.nvvm);
  return failure;
}

namespace {

/// The float flags that the LTO-IR entries record; preflight checked that all that record them
/// agree.
float_flags float_flags_of(std::vector<fatbin> const& inputs, link_options const& options)
{
  for (auto const& input : inputs)
    if (auto const* entry = linked_entry(input, choice_of(options));
        entry != nullptr && entry->kind == entry_kind::ltoir && states_float_flags(*entry))
      return entry->float_flags();
  return {};
}

/// nvJitLink takes 0 and 1; true and false fail.
void add_float_flags(std::vector<std::string>& texts, float_flags const& flags)
{
  texts.push_back(detail::format("-ftz={:d}", flags.ftz));
  texts.push_back(detail::format("-prec-div={:d}", flags.prec_div));
  texts.push_back(detail::format("-prec-sqrt={:d}", flags.prec_sqrt));
  texts.push_back(detail::format("-fma={:d}", flags.fmad));
}

/// One option for each of `values`: ptx mode takes no lists, and "a,b" would keep nothing.
void add_each(std::vector<std::string>& texts, char const* option,
              std::vector<std::string> const& values)
{
  for (auto const& value : values) texts.push_back(option + value);
}

/// Without repetitions, in alphabetical order: the image does not depend on theirs.
std::vector<std::string> sorted(std::vector<std::string> names)
{
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void add_code_options(std::vector<std::string>& texts, link_options const& options)
{
  if (options.max_registers)
    texts.push_back(detail::format("-maxrregcount={}", *options.max_registers));
  if (options.optimization) texts.push_back(detail::format("-O{}", *options.optimization));
  if (options.fast_compile != fast_compile::none)
    texts.push_back(detail::format("-Ofc={}", to_string(options.fast_compile)));
  if (options.line_info) texts.emplace_back("-lineinfo");
  if (options.debug) texts.emplace_back("-g");
  // The documented "-device-stack-protector" is an unknown option to nvJitLink 13.0.
  if (options.stack_protector) texts.emplace_back("--device-stack-protector=true");
}

}  // namespace

float_flags linked_float_flags(std::vector<fatbin> const& inputs, link_options const& options)
{
  auto flags = float_flags_of(inputs, options);
  flags.ftz = options.ftz.value_or(flags.ftz);
  flags.prec_div = options.prec_div.value_or(flags.prec_div);
  flags.prec_sqrt = options.prec_sqrt.value_or(flags.prec_sqrt);
  flags.fmad = options.fma.value_or(flags.fmad);
  return flags;
}

std::vector<std::string> image_options(std::vector<fatbin> const& inputs,
                                       link_options const& options)
{
  std::vector<std::string> texts{"-arch=" + options.target.name()};
  if (options.mode == link_mode::lto) {  // in ptx mode, the instructions follow the flags already
    texts.emplace_back("-lto");
    add_float_flags(texts, linked_float_flags(inputs, options));
    // LTO-IR is read after its compilation to PTX, which missing hooks do not stop.
    if (options.emit == image_kind::ptx || options.emit == image_kind::ltoir)
      texts.emplace_back("-ptx");
  }
  if (options.emit == image_kind::relocatable) texts.emplace_back("-r");
  add_each(texts, "-kernels-used=", sorted(options.kernels));
  add_each(texts, "-variables-used=", sorted(options.variables));
  if (options.drop_unused_variables) texts.emplace_back("-optimize-unused-variables");
  if (options.latest_nvvm) texts.emplace_back("-nvvm-latest");
  add_code_options(texts, options);
  add_each(texts, "-Xptxas=", options.ptxas);
  add_each(texts, "-Xnvvm=", options.nvvm);
  return texts;
}

std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options)
{
  auto texts = image_options(inputs, options);
  if (options.threads) texts.push_back(detail::format("-split-compile={}", *options.threads));
  if (!options.driver_cache) texts.emplace_back("-no-cache");
  return texts;
}

}  // namespace fatlink::detail
