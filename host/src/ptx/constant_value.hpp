// SPDX-License-Identifier: Apache-2.0
// Values of constant expressions and what operators make of them. Source: PTX ISA 9.0, "Constant
// Expressions"; ptxas 13.0 for what the text leaves open: the remainder is unsigned, shifts take
// the count modulo 64.
#pragma once

#include <cstdint>

namespace fatlink::ptx::constants {

inline constexpr char const* k_no_integer = "expected an integer constant";

enum class value_type : std::uint8_t { s64, u64, f32, f64 };

/// Integers as 64 bits; f32 only as it is written, because arithmetic is in f64.
struct value {
  value_type type = value_type::s64;
  std::uint64_t bits = 0;
};

inline bool is_real(value operand) noexcept
{
  return operand.type == value_type::f32 || operand.type == value_type::f64;
}

enum class symbol : std::uint8_t {
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  unequal,
  less_equal,
  greater_equal,
  left_shift,
  right_shift,
  less,
  greater,
  plus,
  minus,
  times,
  divide,
  remainder,
};

/// s64 for two signed integers, else u64.
value_type common_type(value a, value b) noexcept;
/// `sign` is '+', '-', '!' or '~'.
/// @throws std::domain_error the operand is no integer where it must be.
value apply(char sign, value operand);
/// @throws std::domain_error an operand is no integer where it must be; a division by zero.
value apply(symbol op, value a, value b);

}  // namespace fatlink::ptx::constants
