// SPDX-License-Identifier: Apache-2.0
#include "preflight/is_connected.hpp"

#include <algorithm>
#include <vector>

namespace fatlink::detail {

bool is_connected(symbol_index const& symbols, preflight_input const& input)
{
  auto const any = [&](std::vector<ptx_function> const& functions, auto const& condition) {
    return std::any_of(functions.begin(), functions.end(), [&](ptx_function const& function) {
      return condition(symbols.find(function.name));
    });
  };
  auto const is_called = [&](symbol_role role) {
    return [&input, role](symbol_group const& group) { return group.is_called(role, input); };
  };
  auto const is_defined = [&](symbol_group const& group) {
    return group.has_other(symbol_role::definition, input) ||
           group.has_other(symbol_role::weak_definition, input);
  };
  auto const is_replaced = [&](symbol_group const& group) {
    return group.has_other(symbol_role::definition, input);
  };
  auto const& interface = input.interface;
  return any(interface.definitions, is_called(symbol_role::definition)) ||
         any(interface.weak, is_called(symbol_role::weak_definition)) ||
         any(interface.hooks, is_defined) || any(interface.weak, is_replaced);
}

}  // namespace fatlink::detail
