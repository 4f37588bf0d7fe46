// SPDX-License-Identifier: Apache-2.0
// What the inputs of a link declare and define, by name: the index is built in one pass, so that
// rules look names up instead of searching all inputs for each; what one input needs and defines;
// and whether two declarations of a function have the same types. Threads: no shared state.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/ptx_interface.hpp"
#include "preflight/rules.hpp"

namespace fatlink::detail {

/// A sorted set of names: every look-up takes logarithmic time, also for input that would provoke
/// collisions in a hash table. The names are views; their text must outlive the set.
class name_set {
 public:
  name_set() = default;
  explicit name_set(std::vector<std::string_view> names) : names_(std::move(names))
  {
    std::sort(names_.begin(), names_.end());
  }
  explicit name_set(std::vector<ptx_function> const& functions)
  {
    for (auto const& function : functions) names_.push_back(function.name);
    std::sort(names_.begin(), names_.end());
  }

  [[nodiscard]] bool contains(std::string_view name) const
  {
    return std::binary_search(names_.begin(), names_.end(), name);
  }
  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

 private:
  std::vector<std::string_view> names_;
};

enum class symbol_role { hook, definition, weak_definition, kernel };  // see roles_

/// A function that `input` declares or defines.
struct function_symbol {
  preflight_input const* input;
  symbol_role role;
  ptx_function const* function;
};

/// A variable that `input` declares (`is_external`) or defines.
struct variable_symbol {
  preflight_input const* input;
  bool is_external;
  ptx_variable const* variable;
};

/// What an input has of a name, however many times.
struct symbol_use {
  preflight_input const* input;
  symbol_role role;
};

/// All of one name, in the order of the inputs. Thousands of inputs may share a name, so the
/// members take constant time, except has() of an input.
struct symbol_group {
  std::vector<function_symbol> functions;
  std::vector<variable_symbol> variables;
  std::vector<symbol_use> uses;       ///< of `functions`, each once, those of one input in a row
  bool is_variable_declared = false;  ///< an input declares the variable extern
  bool is_variable_defined = false;

  [[nodiscard]] bool has(symbol_role role) const { return of(role).inputs != 0; }
  /// Takes time proportional to `uses`.
  [[nodiscard]] bool has(symbol_role role, preflight_input const& input) const;
  /// Whether an input other than `input` has a function of the name.
  [[nodiscard]] bool is_in_other(preflight_input const& input) const;
  /// Whether an input other than `input` has the name in this role.
  [[nodiscard]] bool has_other(symbol_role role, preflight_input const& input) const;
  /// Whether an input other than `definer` calls what `definer` defines in `role`: see calls().
  [[nodiscard]] bool is_called(symbol_role role, preflight_input const& definer) const;

 private:
  friend class symbol_index;
  struct role_inputs {
    std::size_t inputs = 0;
    preflight_input const* first = nullptr;
  };
  [[nodiscard]] role_inputs const& of(symbol_role role) const
  {
    return roles_[static_cast<std::size_t>(role)];
  }
  void add_use(preflight_input const& input, symbol_role role);

  std::array<role_inputs, 4> roles_ = {};  ///< by symbol_role
};

/// Lives no longer than the inputs that it was made of.
class symbol_index {
 public:
  explicit symbol_index(preflight_inputs const& inputs);

  /// The groups, in the order in which the inputs first name them.
  [[nodiscard]] std::vector<symbol_group> const& groups() const noexcept { return groups_; }
  /// All of `name`; empty where no input has it.
  [[nodiscard]] symbol_group const& find(std::string_view name) const;

 private:
  symbol_group& group(std::string_view name);
  void add_functions(preflight_input const& input, std::vector<ptx_function> const& functions,
                     symbol_role role);
  void add_variables(preflight_input const& input, std::vector<ptx_variable> const& variables,
                     bool is_external);

  std::vector<symbol_group> groups_;
  std::map<std::string_view, std::size_t> positions_;  // no hash table: see name_set
};

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

/// Whether `input` calls a function of another input, or another one its functions.
bool is_connected(symbol_index const& symbols, preflight_input const& input);

/// The hooks of the contract of `module` that it defines by weak functions.
std::set<std::string> weak_hooks(fatbin const& module, entry_choice const& choice);

/// The hooks of `modules` that nothing else fills than the weak definition of one module: its
/// default. Empty if a module's symbols cannot be read (is_opaque), because it may define any.
/// @throws format_error an entry is damaged.
std::set<std::string> default_hooks(std::span<fatbin const> modules, entry_choice const& choice);

/// `uncertain`: a body reads as an integer what callers pass as a float, or the reverse. Either the
/// types differ, or the body uses the bits of the right type: both have the same PTX.
enum class type_agreement { same, uncertain, different };

/// Compares arity, widths, alignments, and float with integer where instructions tell. Inputs of
/// one contract were compiled against its header, so only certain differences are reported for
/// them.
type_agreement compare_types(function_symbol const& a, function_symbol const& b);

/// Bytes of a kernel's parameter, which is all that a cubin states of it.
unsigned long parameter_bytes(ptx_parameter const& parameter);

/// Both as text, in the least detail that shows how they differ.
std::pair<std::string, std::string> describe_types(ptx_function const& a, ptx_function const& b);

}  // namespace fatlink::detail
