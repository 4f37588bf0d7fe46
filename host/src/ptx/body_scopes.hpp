// SPDX-License-Identifier: Apache-2.0
// The names within a function's body: registers, variables and labels of nested scopes.
// Uses no hash tables, because an input could provoke collisions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ptx/syntax.hpp"
#include "ptx/token_reader.hpp"

namespace fatlink::ptx {

class body_scopes {
 public:
  /// What a name stands for: an index into function::registers or function::variables.
  struct declared_name {
    bool is_register = true;
    unsigned index = 0;
    unsigned lanes = 1;  ///< of a register of .v2 or .v4: so many registers from `index`
  };
  /// The type of a register's elements, and their number.
  struct register_type {
    ptx::type type = type::b32;
    unsigned lanes = 1;
  };
  /// A symbol operand that may turn out to be a label: operand `operand` of the instruction, or of
  /// the branch table, with index `owner`.
  struct label_use {
    bool in_table = false;
    std::size_t owner = 0;
    std::size_t operand = 0;
  };

  /// Opens the outermost scope, with the results and parameters of `function`.
  body_scopes(token_reader const& reader, syntax::function& function);

  [[nodiscard]] bool empty() const noexcept { return scopes_.empty(); }
  /// @throws syntax_error (unsupported) more than limits::k_scope_depth scopes.
  void open();
  /// Closes the innermost scope: label uses that name a label of it become labels.
  void close();

  void declare(syntax::variable const& variable);
  void declare_register(std::string const& name, register_type type);
  /// `.reg .b32 %r<37>`: declares %r0 to %r36; a register is added when it is first used.
  void declare_registers(std::string const& prefix, std::uint64_t count, register_type type);
  /// Places the label `name` at the next instruction.
  /// @throws syntax_error (malformed) the scope already has it.
  void define_label(std::string const& name);
  void add_label_use(label_use use) { scopes_.back().label_uses.push_back(use); }

  [[nodiscard]] syntax::variable const& variable(unsigned index) const
  {
    return function_.variables[index];
  }

  /// The innermost declaration of `name`, if any.
  std::optional<declared_name> find(std::string const& name);

 private:
  struct register_range {
    std::uint64_t count;
    register_type type;
  };
  struct scope_names {
    std::map<std::string, declared_name> names;
    std::map<std::string, register_range> ranges;  ///< by prefix
    std::map<std::string, unsigned> labels;        ///< index of the instruction they precede
    std::vector<label_use> label_uses;
  };

  /// The declaration of `name`, whose registers are added.
  declared_name add_register(std::string const& name, register_type type);
  void declare_parameter(syntax::variable const& variable);
  std::optional<declared_name> find_in(scope_names& scope, std::string const& name);
  syntax::operand& operand_of(label_use use);

  token_reader const& reader_;
  syntax::function& function_;
  std::vector<scope_names> scopes_;
};

}  // namespace fatlink::ptx
