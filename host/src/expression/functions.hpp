// SPDX-License-Identifier: Apache-2.0
// The operators and functions of the expression language. docs/expressions.md lists the functions;
// docs.test_expressions compares the list with this table. Threads: no shared state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// Where an expression is.
enum class expression_use : std::uint8_t {
  formula,    ///< in a launch plan: integers of 64 bits, errors for what is out of range
  reference,  ///< in a reference of a hook: integers of 128 bits and doubles
};

/// What a part of an expression does.
enum class expression_code : std::uint8_t {
  number,
  name,
  negate,
  logical_not,
  absolute,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  choose,  ///< of "c ? a : b"
  call,    ///< of a function of doubles
  // Between the operands of an operation that may not need both.
  after_condition,  ///< before a
  after_choice,     ///< before b
  after_and,        ///< between the operands of "&&"
  after_or,         ///< between the operands of "||"
};

struct expression_function {
  std::string_view name;
  /// Of `call` one of the pointers is set; others are what stands between two arguments.
  expression_code code = expression_code::call;
  bool in_formulas = false;
  bool in_references = true;
  double (*of_one)(double) = nullptr;
  double (*of_two)(double, double) = nullptr;
  double (*of_three)(double, double, double) = nullptr;
};

/// All of them, sorted by name.
std::span<expression_function const> expression_functions() noexcept;

/// The function of this name that expressions of this use may call; null if there is none.
expression_function const* find_function(std::string_view name, expression_use use) noexcept;

/// The names of the functions that expressions of this use may call, sorted.
std::vector<std::string> list_functions(expression_use use);

}  // namespace fatlink::detail
