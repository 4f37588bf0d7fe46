// SPDX-License-Identifier: Apache-2.0
#include "linker/record_inlining.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/preflight.hpp"
#include "linker/image_functions.hpp"
#include "preflight/linked_entry.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

std::set<std::string> without_system_functions(std::set<std::string> names)
{
  std::erase_if(names, [](std::string const& name) { return detail::is_system_function(name); });
  return names;
}

/// The hooks of all inputs that another input defines.
std::set<std::string> filled_hooks(std::vector<fatbin> const& inputs, entry_choice const& choice)
{
  std::set<std::string> hook_names;
  std::set<std::string> defined;
  auto has_opaque = false;
  for (auto const& input : inputs) {
    auto const& interface = interface_of(input, choice);
    has_opaque = has_opaque || is_opaque(input, choice);
    for (auto const& hook : interface.hooks) hook_names.insert(hook.name);
    for (auto const& function : interface.definitions) defined.insert(function.name);
    for (auto const& function : interface.weak) defined.insert(function.name);
  }
  // The hooks of an opaque library cannot be read, so each definition may fill one.
  if (has_opaque && hook_names.empty()) return defined;
  if (has_opaque) return without_system_functions(std::move(hook_names));  // the link has succeeded
  std::erase_if(hook_names, [&](std::string const& name) { return !defined.contains(name); });
  return hook_names;
}

}  // namespace

void detail::record_inlining(linked_image& image, std::vector<fatbin> const& inputs,
                             entry_choice const& choice)
{
  detail::linked_functions const functions(detail::functions_in(image));
  for (auto const& hook : filled_hooks(inputs, choice)) {
    auto const inlined = functions.inlined(hook);
    image.hooks.push_back({hook, inlined});
    if (image.mode == link_mode::lto && !inlined)
      image.warnings.push_back(
          detail::format("{} was not inlined: the LTO link left a call to it", hook));
  }
}

void detail::check_inlined(linked_image const& image, std::vector<fatbin> const& inputs)
{
  for (auto const& hook : image.hooks) {
    if (hook.inlined) continue;
    std::string names;
    for (auto const& input : inputs) names += (names.empty() ? "" : ", ") + input.name();
    throw link_error(
        stage::linker,
        {.message = detail::format("{}: {} was not inlined: the {} link left a call to it", names,
                                   hook.name, to_string(image.mode)),
         .input = names,
         .code = error_code::not_inlined,
         .hint = "a recursive, very large or __noinline__ function stays a call, and so do others "
                 "with link_options::optimization 0 or link_options::fast_compile max, and those "
                 "of PTX "
                 "or SASS"});
  }
}

}  // namespace fatlink
