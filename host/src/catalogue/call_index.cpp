// SPDX-License-Identifier: Apache-2.0
#include "catalogue/call_index.hpp"

#include "preflight/symbols.hpp"

namespace fatlink::detail {

call_index::call_index(std::span<fatbin const> inputs)
    : inputs_(describe(inputs, positions_)), symbols_(inputs_)
{
}

std::vector<ptx_function> call_index::unused_functions(fatbin const& transform) const
{
  std::vector<ptx_function> functions;
  auto const* const interface = &interface_of_any(transform);
  auto const& definer = inputs_[positions_.at(interface)];
  auto const add = [&](std::vector<ptx_function> const& defined, symbol_role role) {
    for (auto const& function : defined)
      if (!symbols_.find(function.name).is_called(role, definer)) functions.push_back(function);
  };
  add(interface->definitions, symbol_role::definition);
  add(interface->weak, symbol_role::weak_definition);
  return functions;
}

/// Copies of one input share an interface, and count once.
preflight_inputs call_index::describe(std::span<fatbin const> inputs, positions& places)
{
  preflight_inputs described;
  for (auto const& input : inputs)
    if (auto const& interface = interface_of_any(input);
        places.emplace(&interface, described.size()).second)
      described.push_back(
          {.file = &input, .interface = interface, .ident = input.ident(), .is_opaque = false});
  return described;
}

std::vector<std::string_view> names_of(std::vector<ptx_function> const& functions)
{
  std::vector<std::string_view> names;
  for (auto const& function : functions) names.push_back(function.name);
  return names;
}

}  // namespace fatlink::detail
