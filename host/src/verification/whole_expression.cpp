// SPDX-License-Identifier: Apache-2.0
// The evaluation of whole_expression; parse_whole.cpp has the parser.
#include "verification/whole_expression.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fatlink::detail {
namespace {

/// The product and so on modulo 2^128, as unsigned arithmetic is.
template <typename Operation>
int128 modular(int128 a, int128 b, Operation const& operation)
{
  return static_cast<int128>(operation(static_cast<uint128>(a), static_cast<uint128>(b)));
}

}  // namespace

void whole_expression::execute_whole(step what, number& left, number const& right)
{
  auto& a = left.whole;
  auto const b = right.whole;
  switch (what) {
    case step::add:
      a = modular(a, b, std::plus<>());
      return;
    case step::subtract:
      a = modular(a, b, std::minus<>());
      return;
    case step::multiply:
      a = modular(a, b, std::multiplies<>());
      return;
    case step::divide:
      a = b == 0 ? 0 : b == -1 ? modular(0, a, std::minus<>()) : a / b;
      return;
    case step::modulo:
      a = b == 0 || b == -1 ? 0 : a % b;
      return;
    case step::least:
      a = std::min(a, b);
      return;
    case step::greatest:
      a = std::max(a, b);
      return;
    case step::less:
      a = a < b ? 1 : 0;
      return;
    case step::less_equal:
      a = a <= b ? 1 : 0;
      return;
    case step::greater:
      a = a > b ? 1 : 0;
      return;
    case step::greater_equal:
      a = a >= b ? 1 : 0;
      return;
    case step::equal:
      a = a == b ? 1 : 0;
      return;
    case step::not_equal:
      a = a != b ? 1 : 0;
      return;
    case step::bit_and:
      a = a & b;
      return;
    case step::bit_or:
      a = a | b;
      return;
    case step::bit_xor:
      a = a ^ b;
      return;
    case step::logical_and:
      a = a != 0 && b != 0 ? 1 : 0;
      return;
    case step::logical_or:
      a = a != 0 || b != 0 ? 1 : 0;
      return;
    default:
      return;
  }
}

void whole_expression::execute_real(step what, number& left, number const& right)
{
  auto const a = left.real;
  auto const b = right.real;
  switch (what) {
    case step::add_real:
      left.real = a + b;
      return;
    case step::subtract_real:
      left.real = a - b;
      return;
    case step::multiply_real:
      left.real = a * b;
      return;
    case step::divide_real:
      left.real = a / b;
      return;
    case step::least_real:  // NaN in, NaN out, as in expression.cpp
      left.real = std::isnan(a) || a < b ? a : b;
      return;
    case step::greatest_real:
      left.real = std::isnan(a) || a > b ? a : b;
      return;
    case step::less_real:
      left.whole = a < b ? 1 : 0;
      return;
    case step::less_equal_real:
      left.whole = a <= b ? 1 : 0;
      return;
    case step::greater_real:
      left.whole = a > b ? 1 : 0;
      return;
    case step::greater_equal_real:
      left.whole = a >= b ? 1 : 0;
      return;
    case step::equal_real:
      left.whole = a == b ? 1 : 0;
      return;
    case step::not_equal_real:
      left.whole = a != b ? 1 : 0;
      return;
    default:
      execute_whole(what, left, right);
  }
}

void whole_expression::execute(instruction const& next)
{
  auto& top = stack_.back();
  switch (next.what) {
    case step::to_real:
      top.real = static_cast<double>(top.whole);
      return;
    case step::negate:
      top.whole = modular(0, top.whole, std::minus<>());
      return;
    case step::negate_real:
      top.real = -top.real;
      return;
    case step::absolute:
      if (top.whole < 0) top.whole = modular(0, top.whole, std::minus<>());
      return;
    case step::absolute_real:
      top.real = std::abs(top.real);
      return;
    case step::logical_not:
      top.whole = top.whole == 0 ? 1 : 0;
      return;
    case step::choose: {
      auto const no = stack_.back();
      stack_.pop_back();
      auto const yes = stack_.back();
      stack_.pop_back();
      stack_.back() = stack_.back().whole != 0 ? yes : no;
      return;
    }
    default: {
      auto const right = stack_.back();
      stack_.pop_back();
      execute_real(next.what, stack_.back(), right);
    }
  }
}

int128 whole_expression::evaluate()
{
  stack_.clear();
  for (auto const& next : code_) {
    if (next.what == step::push)
      stack_.push_back(next.value);
    else if (next.what == step::load)
      stack_.push_back(*next.variable);
    else
      execute(next);
  }
  return stack_.back().whole;
}

}  // namespace fatlink::detail
