// SPDX-License-Identifier: Apache-2.0
// What an input calls and defines, whatever the target.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

/// The interface of `input` by its PTX for the newest target; empty where it has no PTX.
inline ptx_interface const& interface_of_any(fatbin const& input)
{
  return interface_of(input, target("sm_121"));
}

inline bool has_name(std::vector<ptx_function> const& functions, std::string_view name)
{
  return std::any_of(functions.begin(), functions.end(),
                     [&](ptx_function const& function) { return function.name == name; });
}

/// Whether a module calls `name`, or has a weak definition that another one replaces.
inline bool calls(ptx_interface const& interface, std::string_view name)
{
  return has_name(interface.hooks, name) || has_name(interface.weak, name);
}

inline bool has_entry(fatbin const& input, entry_kind kind)
{
  auto const& entries = input.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](fatbin_entry const& entry) { return entry.kind == kind; });
}

/// Whether `symbol` is the C++ name of `name`, as `_Z14user_transformf` is of user_transform.
inline bool is_mangled(std::string_view symbol, std::string_view name)
{
  return symbol.starts_with("_Z" + std::to_string(name.size()) + std::string(name));
}

}  // namespace fatlink::detail
