// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx_aliases.hpp"

#include <map>
#include <set>
#include <utility>

namespace fatlink::detail {

void define_aliases(std::vector<function_alias> const& aliases,
                    std::vector<ptx_function>& definitions,
                    std::function<void(std::size_t)> const& count)
{
  if (aliases.empty()) return;
  std::map<std::string_view, std::size_t> functions;
  for (std::size_t i = 0; i < definitions.size(); ++i) functions.emplace(definitions[i].name, i);
  std::vector<ptx_function> others;
  for (auto const& [name, target] : aliases)
    if (auto const function = functions.find(target); function != functions.end()) {
      auto const& definition = definitions[function->second];
      count(1 + definition.results.size() + definition.parameters.size());
      others.emplace_back(definition).name = name;
    }
  for (auto& other : others) definitions.push_back(std::move(other));
}

void drop_defined(ptx_interface& interface)
{
  std::set<std::string_view> defined;
  for (auto const* list : {&interface.definitions, &interface.weak})
    for (auto const& function : *list) defined.insert(function.name);
  for (auto const& variable : interface.variables) defined.insert(variable.name);
  auto const is_defined = [&](auto const& symbol) { return defined.contains(symbol.name); };
  std::erase_if(interface.hooks, is_defined);
  std::erase_if(interface.external_variables, is_defined);
}

}  // namespace fatlink::detail
