// SPDX-License-Identifier: Apache-2.0
#include "linker/link_key.hpp"

#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// Raised whenever the same inputs and options would be linked otherwise by fatlink itself.
constexpr char const* k_key_format = "2";

/// The entries' own float flags: preflight saw to it that in LTO mode all inputs agree.
float_flags flags_of(std::vector<fatbin> const& inputs, link_options const& options)
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
  if (options.mode == link_mode::ptx) return texts;  // PTX has its flags baked in
  auto const flags = flags_of(inputs, options);
  texts.insert(texts.end(), {"-lto", detail::format("-ftz={:d}", flags.ftz),
                             detail::format("-prec-div={:d}", flags.prec_div),
                             detail::format("-prec-sqrt={:d}", flags.prec_sqrt),
                             detail::format("-fma={:d}", flags.fmad)});
  if (options.emit == image_kind::ptx) texts.emplace_back("-ptx");
  return texts;
}

cache_key link_key(std::vector<fatbin> const& inputs, link_options const& options,
                   std::string const& nvjitlink_identity)
{
  cache_key key;
  key.add("format", k_key_format);
  for (auto const& input : inputs) key.add("input", detail::to_hexadecimal(input.digest()));
  key.add("target", options.target.name());
  key.add("mode", to_string(options.mode));
  key.add("emit", to_string(options.emit));
  for (auto const& option : detail::nvjitlink_options(inputs, options)) key.add("option", option);
  key.add("nvjitlink", nvjitlink_identity);
  return key;
}

}  // namespace fatlink
