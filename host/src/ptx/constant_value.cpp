// SPDX-License-Identifier: Apache-2.0
#include "ptx/constant_value.hpp"

#include <bit>
#include <stdexcept>

namespace fatlink::ptx::constants {
namespace {

double real_of(value operand) noexcept
{
  if (operand.type == value_type::f32)
    return std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
  if (operand.type == value_type::f64) return std::bit_cast<double>(operand.bits);
  return operand.type == value_type::s64
             ? static_cast<double>(static_cast<std::int64_t>(operand.bits))
             : static_cast<double>(operand.bits);
}

value real(double number) noexcept
{
  return {value_type::f64, std::bit_cast<std::uint64_t>(number)};
}

value truth(bool condition) noexcept
{
  return {value_type::s64, condition ? 1U : 0U};
}

template <typename T>
bool holds(symbol relation, T a, T b) noexcept
{
  switch (relation) {
    case symbol::equal:
      return a == b;
    case symbol::unequal:
      return a != b;
    case symbol::less:
      return a < b;
    case symbol::less_equal:
      return a <= b;
    case symbol::greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool is_relation(symbol symbol) noexcept
{
  return (symbol >= symbol::equal && symbol <= symbol::greater_equal) || symbol == symbol::less ||
         symbol == symbol::greater;
}

value expect_integer(value operand)
{
  if (is_real(operand)) throw std::domain_error(k_no_integer);
  return operand;
}

value shifted_right(value a, unsigned count) noexcept
{
  return {a.type, a.type == value_type::s64
                      ? static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> count)
                      : a.bits >> count};
}

value apply_arithmetic(symbol op, value a, value b)
{
  auto const type = common_type(a, b);
  if (op == symbol::plus) return {type, a.bits + b.bits};
  if (op == symbol::minus) return {type, a.bits - b.bits};
  if (op == symbol::times) return {type, a.bits * b.bits};
  if (b.bits == 0) throw std::domain_error("a constant expression divides by zero");
  if (op == symbol::remainder) return {value_type::s64, a.bits % b.bits};
  if (type == value_type::u64) return {type, a.bits / b.bits};
  if (b.bits == ~std::uint64_t{0}) return {type, 0 - a.bits};  // the quotient may overflow
  return {type, static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) /
                                           static_cast<std::int64_t>(b.bits))};
}

value apply_real(symbol op, double a, double b)
{
  if (is_relation(op)) return truth(holds(op, a, b));
  switch (op) {
    case symbol::plus:
      return real(a + b);
    case symbol::minus:
      return real(a - b);
    case symbol::times:
      return real(a * b);
    case symbol::divide:
      return real(a / b);
    default:
      throw std::domain_error(k_no_integer);
  }
}

}  // namespace

value_type common_type(value a, value b) noexcept
{
  return a.type == value_type::s64 && b.type == value_type::s64 ? value_type::s64 : value_type::u64;
}

value apply(char sign, value operand)
{
  if (sign == '+') return operand;
  if (sign == '!') return truth(expect_integer(operand).bits == 0);
  if (sign == '~') return {value_type::u64, ~expect_integer(operand).bits};
  if (operand.type == value_type::f32) return {operand.type, operand.bits ^ 0x80000000U};
  if (is_real(operand)) return real(-real_of(operand));
  return {operand.type, 0 - operand.bits};
}

value apply(symbol op, value a, value b)
{
  if (is_real(a) || is_real(b)) return apply_real(op, real_of(a), real_of(b));
  if (is_relation(op))
    return truth(common_type(a, b) == value_type::s64 ? holds(op, static_cast<std::int64_t>(a.bits),
                                                              static_cast<std::int64_t>(b.bits))
                                                      : holds(op, a.bits, b.bits));
  switch (op) {
    case symbol::logical_or:
      return truth(a.bits != 0 || b.bits != 0);
    case symbol::logical_and:
      return truth(a.bits != 0 && b.bits != 0);
    case symbol::bit_or:
      return {value_type::u64, a.bits | b.bits};
    case symbol::bit_xor:
      return {value_type::u64, a.bits ^ b.bits};
    case symbol::bit_and:
      return {value_type::u64, a.bits & b.bits};
    case symbol::left_shift:
      return {a.type, a.bits << (b.bits & 63U)};
    case symbol::right_shift:
      return shifted_right(a, static_cast<unsigned>(b.bits & 63U));
    default:
      return apply_arithmetic(op, a, b);
  }
}

}  // namespace fatlink::ptx::constants
