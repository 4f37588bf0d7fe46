// SPDX-License-Identifier: Apache-2.0
// The key of a link in the cache: what its image depends on (docs/cache.md).
#include <span>
#include <string>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"
#include "linker/check_arguments.hpp"
#include "linker/link_options.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink {
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
  for (auto const& option : detail::image_options(modules, options)) key.add("option", option);
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
