// SPDX-License-Identifier: Apache-2.0
#include "plan/formula.hpp"

#include <algorithm>
#include <array>

#include "plan/parse_formula.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

using opcode = formula::operation;
using instruction = formula::instruction;

[[noreturn]] void fail(std::string const& cause, instruction const& at, char const* hint)
{
  throw formula_error(detail::format("{} (at character {})", cause, at.place), hint);
}

[[noreturn]] void fail_overflow(std::int64_t a, char const* sign, std::int64_t b,
                                instruction const& at)
{
  fail(detail::format("{} {} {} overflows 64 bits", a, sign, b), at,
       "use smaller sizes, or divide before numbers are multiplied");
}

[[noreturn]] void fail_division(std::int64_t a, std::int64_t b, instruction const& at)
{
  auto const* const sign = at.code == opcode::remainder ? "%" : "/";
  if (b == 0)
    fail(detail::format("division by zero: {} {} 0", a, sign), at,
         "use max(1, …) as the divisor, or a condition: b == 0 ? 0 : a / b");
  fail(detail::format("division of a negative number: {} {} {}", a, sign, b), at,
       "divide only numbers that are not negative");
}

std::int64_t divide(std::int64_t a, std::int64_t b, instruction const& at)
{
  if (a < 0 || b <= 0) fail_division(a, b, at);
  if (at.code == opcode::remainder) return a % b;
  return a / b + (at.code == opcode::ceiling_divide && a % b != 0 ? 1 : 0);
}

std::int64_t add(std::int64_t a, std::int64_t b, instruction const& at)
{
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) fail_overflow(a, "+", b, at);
  return result;
}

std::int64_t subtract(std::int64_t a, std::int64_t b, instruction const& at)
{
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) fail_overflow(a, "-", b, at);
  return result;
}

std::int64_t multiply(std::int64_t a, std::int64_t b, instruction const& at)
{
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail_overflow(a, "*", b, at);
  return result;
}

/// The result of an operation with two operands.
std::int64_t combine(std::int64_t a, std::int64_t b, instruction const& at)
{
  switch (at.code) {
    case opcode::add:
      return add(a, b, at);
    case opcode::subtract:
      return subtract(a, b, at);
    case opcode::multiply:
      return multiply(a, b, at);
    case opcode::divide:
    case opcode::ceiling_divide:
    case opcode::remainder:
      return divide(a, b, at);
    case opcode::less:
      return a < b ? 1 : 0;
    case opcode::less_equal:
      return a <= b ? 1 : 0;
    case opcode::greater:
      return a > b ? 1 : 0;
    case opcode::greater_equal:
      return a >= b ? 1 : 0;
    case opcode::equal:
      return a == b ? 1 : 0;
    case opcode::not_equal:
      return a != b ? 1 : 0;
    case opcode::minimum:
      return std::min(a, b);
    case opcode::maximum:
      return std::max(a, b);
    default:
      return 0;  // of one operand or none
  }
}

std::vector<std::size_t> list_uses(std::vector<instruction> const& program)
{
  std::vector<std::size_t> indices;
  for (auto const& step : program)
    if (step.code == opcode::load) indices.push_back(static_cast<std::size_t>(step.value));
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

}  // namespace

formula::formula(std::string text, formula_symbols const& symbols)
    : text_(std::move(text)), program_(parse_formula(text_, symbols)), uses_(list_uses(program_))
{
}

bool formula::is_name() const noexcept
{
  return program_.size() == 1 && program_[0].code == opcode::load;
}

std::optional<std::int64_t> formula::solve(std::int64_t result) const noexcept
{
  if (is_name()) return result;
  if (program_.size() != 3) return std::nullopt;
  auto const is_reversed = program_[0].code == opcode::number && program_[1].code == opcode::load;
  auto const is_plain = program_[0].code == opcode::load && program_[1].code == opcode::number;
  if (!is_plain && !is_reversed) return std::nullopt;
  auto const number = program_[is_plain ? 1 : 0].value;
  std::int64_t value = 0;
  switch (program_[2].code) {
    case opcode::add:
      if (__builtin_sub_overflow(result, number, &value)) return std::nullopt;
      return value;
    case opcode::subtract:
      if (is_reversed || __builtin_add_overflow(result, number, &value)) return std::nullopt;
      return value;
    case opcode::multiply:
      if (number <= 0 || result % number != 0) return std::nullopt;
      return result / number;
    default:
      return std::nullopt;
  }
}

std::int64_t formula::run(std::int64_t const* values) const
{
  std::array<std::int64_t, k_formula_stack> stack;  // NOLINT: not set, because that takes longer
  auto* top = stack.data();                         // above the last value
  for (std::size_t next = 0; next < program_.size();) {
    auto const& step = program_[next++];
    switch (step.code) {
      case opcode::number:
        *top++ = step.value;
        break;
      case opcode::load:
        *top++ = values[step.value];
        break;
      case opcode::negate:
        top[-1] = subtract(0, top[-1], step);
        break;
      case opcode::jump:
        next = static_cast<std::size_t>(step.value);
        break;
      case opcode::jump_if_zero:
        if (*--top == 0) next = static_cast<std::size_t>(step.value);
        break;
      default:
        --top;
        top[-1] = combine(top[-1], top[0], step);
    }
  }
  return stack[0];
}

}  // namespace fatlink::detail
