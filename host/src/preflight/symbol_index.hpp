// SPDX-License-Identifier: Apache-2.0
// What the inputs of a link declare and define, by name: built in one pass, so that rules look
// names up instead of searching all inputs for each.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "preflight/rules.hpp"

namespace fatlink::detail {

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
  /// Whether an input other than `definer` calls what `definer` defines in `role`: see calls() of
  /// interface_queries.hpp.
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
  std::map<std::string_view, std::size_t> positions_;  // no hash table: see name_set.hpp
};

/// Whether `group` holds a function definition, weak ones included; kernels are none.
bool is_function_defined(symbol_group const& group);

/// Whether neither PTX nor SASS describes an input: LTO-IR shows no symbols, so it may define any
/// name.
bool any_lacks_interface(preflight_inputs const& inputs);

}  // namespace fatlink::detail
