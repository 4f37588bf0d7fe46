// SPDX-License-Identifier: Apache-2.0
#include "preflight/default_hooks.hpp"

#include <algorithm>
#include <map>

namespace fatlink::detail {

std::set<std::string> weak_hooks(fatbin const& module, entry_choice const& choice)
{
  std::set<std::string> hooks;
  auto const& ident = module.ident();
  if (!ident) return hooks;
  for (auto const& function : interface_of(module, choice).weak)
    if (ident->hooks.contains(function.name)) hooks.insert(function.name);
  return hooks;
}

std::set<std::string> default_hooks(std::span<fatbin const> modules, entry_choice const& choice)
{
  std::set<std::string> hooks;
  if (std::ranges::any_of(modules, [&](auto const& module) { return is_opaque(module, choice); }))
    return hooks;
  std::map<std::string, std::size_t> definitions;
  for (auto const& module : modules) {
    hooks.merge(weak_hooks(module, choice));
    auto const& interface = interface_of(module, choice);
    for (auto const* functions : {&interface.definitions, &interface.weak})
      for (auto const& function : *functions) ++definitions[function.name];
  }
  std::erase_if(hooks, [&](std::string const& hook) { return definitions[hook] > 1; });
  return hooks;
}

}  // namespace fatlink::detail
