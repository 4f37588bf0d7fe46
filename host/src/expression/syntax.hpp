// SPDX-License-Identifier: Apache-2.0
// The expression language of formulas in launch plans and of references of hooks:
//
//   <expression> ::= <or> ["?" <expression> ":" <expression>]
//   <or>         ::= <and> {"||" <and>}
//   <and>        ::= <compare> {"&&" <compare>}
//   <compare>    ::= <sum> [("<" | "<=" | ">" | ">=" | "==" | "!=") <sum>]
//   <sum>        ::= <product> {("+" | "-") <product>}
//   <product>    ::= <unary> {("*" | "/" | "%") <unary>}
//   <unary>      ::= {"-" | "+" | "!"} <power>
//   <power>      ::= <operand> ["^" <unary>]
//   <operand>    ::= <number> | <name> | "(" <expression> ")"
//                  | <function> "(" <expression> {"," <expression>} ")"
//                  | ("sizeof" | "occupancy") "(" <name> ")"     of formulas
//
// docs/expressions.md describes it. The words are in expression/words.hpp, the functions in
// expression/functions.hpp. A formula (expression/formula.hpp) or a program
// (expression/program.hpp) gives the names their types and evaluates it.
// Threads: immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expression/functions.hpp"

namespace fatlink::detail {

struct syntax_node {
  expression_code code = expression_code::number;
  bool is_whole = true;     ///< of a number: has no fraction, and is at most 2^64 - 1
  std::uint32_t place = 1;  ///< the character of the operator, name or number, from 1
  std::uint32_t index = 0;  ///< of a name: in names()
  std::uint64_t whole = 0;  ///< of a number without fraction
  double real = 0;          ///< of a number: the nearest double
  expression_function const* function = nullptr;  ///< of a call
};

/// Two names with one operator between them: "a + b", "a.value < b.value".
struct joined_names {
  std::string_view left;
  expression_code code;
  std::string_view right;
};

class expression_syntax {
 public:
  /// @throws expression_error the text is no expression, or calls a function that there is not.
  expression_syntax(std::string_view text, expression_use use);

  /// In the order of evaluation: the operands of an operation before it.
  [[nodiscard]] std::vector<syntax_node> const& nodes() const noexcept { return nodes_; }
  /// The names in it, each once, in order of appearance: "n", "state.scale", "sizeof(in)".
  [[nodiscard]] std::vector<std::string> const& names() const noexcept { return names_; }
  /// Nothing for other expressions.
  [[nodiscard]] std::optional<joined_names> joined() const noexcept;

 private:
  friend class syntax_parser;

  std::vector<syntax_node> nodes_ = {};
  std::vector<std::string> names_ = {};
};

/// The part of a name before its first dot.
std::string_view base_of(std::string_view name) noexcept;

/// How many operands an operation takes from those before it; 0 of a number, a name and of what is
/// between operands.
unsigned operand_count(syntax_node const& node) noexcept;

}  // namespace fatlink::detail
