// SPDX-License-Identifier: Apache-2.0
#include "linker/inlined_defaults.hpp"

#include <map>
#include <string_view>

#include "detail/format.hpp"
#include "detail/interface_queries.hpp"
#include "linker/reachable_functions.hpp"

namespace fatlink::detail {
namespace {

struct definition {
  fatbin const* file;
  ptx_function const* function;
};
using definitions = std::map<std::string_view, definition>;

bool mentions(ptx_interface const& interface, std::string_view name)
{
  return has_name(interface.hooks, name) || has_name(interface.definitions, name) ||
         has_name(interface.weak, name) || has_name(interface.kernels, name);
}

/// Strong definitions with C linkage of the inputs other than `library`, which its PTX does not
/// mention.
definitions unmentioned_definitions(std::vector<fatbin> const& inputs, fatbin const& library,
                                    link_options const& options)
{
  auto const& own = interface_of(library, options.target, options.mode);
  definitions all;
  for (auto const& input : inputs) {
    if (&input == &library) continue;
    for (auto const& function : interface_of(input, options.target, options.mode).definitions)
      if (!function.name.starts_with("_Z") && !mentions(own, function.name))
        all.emplace(function.name, definition{&input, &function});
  }
  return all;
}

finding mismatch(fatbin const& library, ptx_function const& own, definition const& other)
{
  return {.id = "signature-mismatch",
          .severity = severity::error,
          .files = {library.name(), other.file->name()},
          .symbol = own.name,
          .message =
              detail::format("{} defines the inline default {} and {} defines {}", library.name(),
                             to_string(own), other.file->name(), to_string(*other.function)),
          .hint = detail::format("define it with the type that {} has, or rename one of the two",
                                 library.name())};
}

}  // namespace

std::vector<finding> check_inlined_defaults(std::vector<fatbin> const& inputs,
                                            link_options const& options, link_function const& link)
{
  std::vector<finding> findings;
  if (options.mode != link_mode::lto) return findings;
  for (auto const& library : inputs) {
    if (is_opaque(library, options.target, options.mode)) continue;  // see type_witness.hpp
    if (interface_of(library, options.target, options.mode).kernels.empty()) continue;
    auto const others = unmentioned_definitions(inputs, library, options);
    if (others.empty()) continue;
    for (auto const& own :
         read_reachable(library, options, check_options(inputs, options), link).definitions)
      if (auto const other = others.find(own.name);
          other != others.end() && (own.results != other->second.function->results ||
                                    own.parameters != other->second.function->parameters))
        findings.push_back(mismatch(library, own, other->second));
  }
  return findings;
}

}  // namespace fatlink::detail
