// SPDX-License-Identifier: Apache-2.0
// Expressions whose result is an integer, evaluated exactly: integers in 128 bits, modulo 2^128.
// muParser's doubles are exact up to 2^53 only.
//   <choice>     ::= <or> ["?" <choice> ":" <choice>]
//   <or>, <and>  with "||" and "&&"; comparisons < <= > >= == !=; sums; products * / %
//   <unary>      ::= ("-" | "+" | "!")* <primary>
//   <primary>    ::= <number> | <name> | "(" <choice> ")" | <function> "(" <choice>, … ")"
//   <function>   ::= min | max | abs | bit_and | bit_or | bit_xor
// Comparisons may compare floats, as doubles. In integers / and % are C++'s: the quotient is
// truncated; of a division by 0 both are 0.
// Threads: one expression, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/components.hpp"

namespace fatlink::detail {

/// A variable of a whole_expression.
struct whole_variable {
  std::string name = {};
  bool is_integer = true;
  number const* value = nullptr;  ///< must outlive the expression
};

class whole_expression {
 public:
  /// Nothing for text of another grammar, an unknown name, a result that is a float, or a division
  /// of integers in an expression that has floats: there muParser's division applies.
  static std::optional<whole_expression> parse(std::string_view text,
                                               std::span<whole_variable const> variables);

  /// With the variables' present values.
  int128 evaluate();

 private:
  friend class whole_parser;
  // clang-format off
  enum class step : std::uint8_t {
    push, load, to_real,
    add, subtract, multiply, divide, modulo, negate, absolute, least, greatest,
    add_real, subtract_real, multiply_real, divide_real, negate_real, absolute_real, least_real,
    greatest_real,
    less, less_equal, greater, greater_equal, equal, not_equal,
    less_real, less_equal_real, greater_real, greater_equal_real, equal_real, not_equal_real,
    bit_and, bit_or, bit_xor, logical_and, logical_or, logical_not,
    choose,
    none,
  };
  // clang-format on
  struct instruction {
    step what = step::none;
    number value = {};                 ///< of push
    number const* variable = nullptr;  ///< of load
  };
  static void execute_whole(step what, number& a, number const& b);
  static void execute_real(step what, number& a, number const& b);
  void execute(instruction const& next);

  std::vector<instruction> code_;  ///< postfix
  std::vector<number> stack_;
};

/// Two operands joined by one operator: "a + b", "a.value < b.value".
struct joined_operands {
  std::string_view left;
  char operation;  ///< + * < >
  std::string_view right;
};
/// Nothing for other text.
std::optional<joined_operands> parse_joined(std::string_view text);

}  // namespace fatlink::detail
