// SPDX-License-Identifier: Apache-2.0
#include "linker/nvjitlink_options.hpp"

#include "fatlink/preflight.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// The float flags that the entries record. In LTO mode preflight checked that all inputs agree.
float_flags float_flags_of(std::vector<fatbin> const& inputs, link_options const& options)
{
  for (auto const& input : inputs)
    if (auto const* entry = linked_entry(input, options.target, options.mode); entry != nullptr)
      return entry->float_flags();
  return {};
}

}  // namespace

std::vector<std::string> detail::nvjitlink_options(std::vector<fatbin> const& inputs,
                                                   link_options const& options)
{
  std::vector<std::string> texts{"-arch=" + options.target.name()};
  if (options.mode == link_mode::ptx)
    return texts;  // the PTX instructions already follow the flags
  auto const flags = float_flags_of(inputs, options);
  texts.insert(texts.end(), {"-lto", detail::format("-ftz={:d}", flags.ftz),
                             detail::format("-prec-div={:d}", flags.prec_div),
                             detail::format("-prec-sqrt={:d}", flags.prec_sqrt),
                             detail::format("-fma={:d}", flags.fmad)});
  if (options.emit == image_kind::ptx) texts.emplace_back("-ptx");
  return texts;
}

}  // namespace fatlink
