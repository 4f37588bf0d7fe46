// SPDX-License-Identifier: Apache-2.0
// What the inputs of a link declare and define, by name: built in one pass, so that rules look
// names up instead of searching all inputs for each.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "preflight/rules.hpp"

namespace fatlink::detail {

enum class symbol_role { hook, definition, weak_definition, kernel };

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

/// All of one name, in the order of the inputs.
struct symbol_group {
  std::vector<function_symbol> functions;
  std::vector<variable_symbol> variables;
  std::vector<symbol_use> uses;  ///< of `functions`, each once: few, however many there are

  [[nodiscard]] bool has(symbol_role role) const;
  [[nodiscard]] bool has(symbol_role role, preflight_input const& input) const;
  /// Whether an input other than `input` has a function of the name.
  [[nodiscard]] bool is_in_other(preflight_input const& input) const;
  /// Whether `caller` calls what `definer` defines: see calls() of interface_queries.hpp.
  [[nodiscard]] bool calls(preflight_input const& caller, preflight_input const& definer) const;
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
