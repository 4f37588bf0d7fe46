// SPDX-License-Identifier: Apache-2.0
#include "linker/nvjitlink_options.hpp"

#include <algorithm>

#include "fatlink/preflight.hpp"
#include "preflight/entries.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
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
