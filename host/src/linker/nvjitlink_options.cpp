// SPDX-License-Identifier: Apache-2.0
#include "linker/nvjitlink_options.hpp"

#include <algorithm>

#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"
#include "linker/check_arguments.hpp"
#include "preflight/entries.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// The float flags that the LTO-IR entries record; preflight checked that all that record them
/// agree.
float_flags float_flags_of(std::vector<fatbin> const& inputs, link_options const& options)
{
  for (auto const& input : inputs)
    if (auto const* entry = linked_entry(input, detail::choice_of(options));
        entry != nullptr && entry->kind == entry_kind::ltoir && detail::states_float_flags(*entry))
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

float_flags detail::linked_float_flags(std::vector<fatbin> const& inputs,
                                       link_options const& options)
{
  auto flags = float_flags_of(inputs, options);
  flags.ftz = options.ftz.value_or(flags.ftz);
  flags.prec_div = options.prec_div.value_or(flags.prec_div);
  flags.prec_sqrt = options.prec_sqrt.value_or(flags.prec_sqrt);
  flags.fmad = options.fma.value_or(flags.fmad);
  return flags;
}

namespace {

/// The options that state the image, which are part of the cache key (link_key in linker.hpp):
/// the architecture; in lto mode the float flags, which `options` overrides or the inputs record;
/// and what else `options` sets. `options`: as check_link_options accepts them.
std::vector<std::string> image_options(std::vector<fatbin> const& inputs,
                                       link_options const& options)
{
  std::vector<std::string> texts{"-arch=" + options.target.name()};
  if (options.mode == link_mode::lto) {  // in ptx mode, the instructions follow the flags already
    texts.emplace_back("-lto");
    add_float_flags(texts, detail::linked_float_flags(inputs, options));
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

}  // namespace

std::vector<std::string> detail::nvjitlink_options(std::vector<fatbin> const& inputs,
                                                   link_options const& options)
{
  auto texts = image_options(inputs, options);
  if (options.threads) texts.push_back(detail::format("-split-compile={}", *options.threads));
  if (!options.driver_cache) texts.emplace_back("-no-cache");
  return texts;
}

namespace {

/// Increased whenever fatlink itself would link the same inputs and options differently.
constexpr char const* k_key_format = "2";

/// Whether nvJitLink splits the module between threads, which changes the code of an lto link, for
/// two or more threads alike (nvJitLink 13.0).
bool is_split(link_options const& options)
{
  return options.mode == link_mode::lto && options.threads.value_or(1) > 1;
}

}  // namespace

cache_key link_key(std::span<fatbin const> inputs, link_options const& options,
                   std::string const& nvjitlink_identity)
{
  std::vector const modules(inputs.begin(), inputs.end());
  cache_key key;
  key.add("format", k_key_format);
  for (auto const& module : inputs) key.add("input", detail::to_hexadecimal(module.digest()));
  key.add("target", options.target.name());
  key.add("mode", to_string(options.mode));
  key.add("emit", to_string(options.emit));
  if (options.allow_calls) key.add("calls", "allowed");
  for (auto const& option : image_options(modules, options)) key.add("option", option);
  if (is_split(options)) key.add("split", "yes");
  key.add("nvjitlink", nvjitlink_identity);
  return key;
}

cache_key link_key(std::vector<input> const& inputs, link_options const& options,
                   std::string const& nvjitlink_identity)
{
  return link_key(select_modules(inputs, detail::request_of(options)), options, nvjitlink_identity);
}

}  // namespace fatlink
