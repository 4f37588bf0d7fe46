// SPDX-License-Identifier: Apache-2.0
#include "preflight/symbol_index.hpp"
#include "util/process/immortal.hpp"

#include <algorithm>

namespace fatlink::detail {
namespace {

bool lacks_interface(preflight_input const& input)
{
  if (input.is_opaque) return true;
  auto const& entries = input.file->entries();
  return std::all_of(entries.begin(), entries.end(),
                     [](auto const& entry) { return entry.kind == entry_kind::ltoir; });
}

}  // namespace

bool symbol_group::has(symbol_role role, preflight_input const& input) const
{
  return std::any_of(uses.begin(), uses.end(), [&](symbol_use const& use) {
    return use.role == role && use.input == &input;
  });
}

bool symbol_group::is_in_other(preflight_input const& input) const
{
  return !uses.empty() && (uses.front().input != &input || uses.back().input != &input);
}

bool symbol_group::has_other(symbol_role role, preflight_input const& input) const
{
  auto const& having = of(role);
  return having.inputs > 1 || (having.inputs == 1 && having.first != &input);
}

bool symbol_group::is_called(symbol_role role, preflight_input const& definer) const
{
  return has_other(symbol_role::hook, definer) ||
         (role == symbol_role::definition && has_other(symbol_role::weak_definition, definer));
}

void symbol_group::add_use(preflight_input const& input, symbol_role role)
{
  for (auto use = uses.rbegin(); use != uses.rend() && use->input == &input; ++use)
    if (use->role == role) return;
  uses.push_back({&input, role});
  auto& having = roles_[static_cast<std::size_t>(role)];
  if (having.inputs++ == 0) having.first = &input;
}

symbol_index::symbol_index(preflight_inputs const& inputs)
{
  for (auto const& input : inputs) {
    auto const& interface = input.interface;
    add_functions(input, interface.hooks, symbol_role::hook);
    add_functions(input, interface.kernels, symbol_role::kernel);
    add_functions(input, interface.definitions, symbol_role::definition);
    add_functions(input, interface.weak, symbol_role::weak_definition);
    add_variables(input, interface.external_variables, true);
    add_variables(input, interface.variables, false);
  }
}

symbol_group const& symbol_index::find(std::string_view name) const
{
  static immortal<symbol_group const> const empty;
  auto const position = positions_.find(name);
  return position == positions_.end() ? empty.get() : groups_[position->second];
}

symbol_group& symbol_index::group(std::string_view name)
{
  auto const [position, inserted] = positions_.emplace(name, groups_.size());
  if (inserted) groups_.emplace_back();
  return groups_[position->second];
}

void symbol_index::add_functions(preflight_input const& input,
                                 std::vector<ptx_function> const& functions, symbol_role role)
{
  for (auto const& function : functions) {
    auto& symbols = group(function.name);
    symbols.functions.push_back({&input, role, &function});
    symbols.add_use(input, role);
  }
}

void symbol_index::add_variables(preflight_input const& input,
                                 std::vector<ptx_variable> const& variables, bool is_external)
{
  for (auto const& variable : variables) {
    auto& symbols = group(variable.name);
    symbols.variables.push_back({&input, is_external, &variable});
    (is_external ? symbols.is_variable_declared : symbols.is_variable_defined) = true;
  }
}

bool is_function_defined(symbol_group const& group)
{
  return group.has(symbol_role::definition) || group.has(symbol_role::weak_definition);
}

bool any_lacks_interface(preflight_inputs const& inputs)
{
  return std::any_of(inputs.begin(), inputs.end(), lacks_interface);
}

}  // namespace fatlink::detail
