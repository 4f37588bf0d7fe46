// SPDX-License-Identifier: Apache-2.0
// The functions and variables that an input needs and defines, for any target.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/ptx_interface.hpp"
#include "preflight/rules.hpp"
#include "ptx/name_set.hpp"

namespace fatlink::detail {

/// All modules of `inputs`, in order.
inline std::vector<fatbin> modules_of(std::span<input const> inputs)
{
  std::vector<fatbin> modules;
  for (auto const& file : inputs)
    modules.insert(modules.end(), file.modules().begin(), file.modules().end());
  return modules;
}

/// The newest generic target that fatlink knows; every generic entry can be linked for it.
inline target newest_target()
{
  return target(known_targets().back().number());
}

/// The interface of `input` from its PTX for the newest target; empty if it has no PTX.
inline ptx_interface const& interface_of_any(fatbin const& input)
{
  return interface_of(input, {newest_target(), link_mode::ptx});
}

/// The names of an interface's functions, for many lookups.
struct function_names {
  explicit function_names(ptx_interface const& interface)
      : kernels(interface.kernels),
        definitions(interface.definitions),
        weak(interface.weak),
        hooks(interface.hooks)
  {
  }

  [[nodiscard]] bool contains(std::string_view name) const
  {
    return hooks.contains(name) || definitions.contains(name) || weak.contains(name) ||
           kernels.contains(name);
  }

  name_set kernels;
  name_set definitions;
  name_set weak;
  name_set hooks;
};

/// Whether `caller` calls the function `name` of `definer`, or has a weak definition that the
/// strong one of `definer` replaces. (Two modules may hold weak definitions of one inline function
/// or template.)
inline bool calls(function_names const& caller, function_names const& definer,
                  std::string_view name)
{
  return caller.hooks.contains(name) ||
         (caller.weak.contains(name) && definer.definitions.contains(name));
}

/// The functions that a module defines, strong ones first.
inline std::vector<ptx_function> defined_functions(ptx_interface const& interface)
{
  auto functions = interface.definitions;
  functions.insert(functions.end(), interface.weak.begin(), interface.weak.end());
  return functions;
}

/// The functions that `interface` calls in other modules, without those of the CUDA driver.
inline std::vector<ptx_function> hooks_of(ptx_interface const& interface)
{
  auto hooks = interface.hooks;
  std::erase_if(hooks, [](ptx_function const& hook) {
    return hook.is_unused || is_system_function(hook.name);
  });
  return hooks;
}

/// Whether the module defines the function, but no other module can call it.
inline bool hides(ptx_interface const& interface, std::string_view function)
{
  return std::binary_search(interface.hidden.begin(), interface.hidden.end(), function);
}

/// `extern __shared__ T x[]`: its size is the launch's, and no module defines it.
inline bool is_dynamic_shared(ptx_variable const& variable)
{
  return variable.space == "shared" && variable.is_unsized;
}

inline bool has_entry(fatbin const& input, entry_kind kind)
{
  auto const& entries = input.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](fatbin_entry const& entry) { return entry.kind == kind; });
}

/// Whether `input` holds neither PTX nor LTO-IR, so that only GPUs run it.
inline bool is_sass_only(fatbin const& input)
{
  return !has_entry(input, entry_kind::ptx) && !has_entry(input, entry_kind::ltoir);
}

/// Whether `symbol` is a C++ name of `name` in any scope: _Z14user_transformf.
inline bool is_mangled(std::string_view symbol, std::string_view name)
{
  auto const scoped = std::to_string(name.size()) + std::string(name);
  return symbol.starts_with("_Z") && symbol.find(scoped) != std::string_view::npos;
}

}  // namespace fatlink::detail
