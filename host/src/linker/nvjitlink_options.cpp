// SPDX-License-Identifier: Apache-2.0
#include "linker/nvjitlink_options.hpp"

#include "fatlink/preflight.hpp"
#include "preflight/linked_entry.hpp"
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

}  // namespace

std::vector<std::string> detail::nvjitlink_options(std::vector<fatbin> const& inputs,
                                                   link_options const& options)
{
  std::vector<std::string> texts{"-arch=" + options.target.name()};
  if (options.mode != link_mode::lto)
    return texts;  // PTX and SASS instructions already follow the flags
  auto const flags = float_flags_of(inputs, options);
  texts.insert(texts.end(), {"-lto", detail::format("-ftz={:d}", flags.ftz),
                             detail::format("-prec-div={:d}", flags.prec_div),
                             detail::format("-prec-sqrt={:d}", flags.prec_sqrt),
                             detail::format("-fma={:d}", flags.fmad)});
  if (options.emit == image_kind::ptx) texts.emplace_back("-ptx");
  return texts;
}

}  // namespace fatlink
