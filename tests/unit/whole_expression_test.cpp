// SPDX-License-Identifier: Apache-2.0
#include "verification/whole_expression.hpp"

#include <gtest/gtest.h>

using namespace fatlink;

namespace {

/// In a = 7, b = -2, m = 2^63 - 1 and the floats x = 2.5, y = -1.
std::optional<std::int64_t> evaluate_whole(std::string_view text)
{
  static detail::number const a = detail::whole_number(7);
  static detail::number const b = detail::whole_number(-2);
  static detail::number const m = detail::whole_number(INT64_MAX);
  static detail::number const x{.real = 2.5};
  static detail::number const y{.real = -1};
  std::vector<detail::whole_variable> const variables{
      {"a", true, &a}, {"b", true, &b}, {"s.m", true, &m}, {"x", false, &x}, {"y", false, &y}};
  auto parsed = detail::whole_expression::parse(text, variables);
  if (!parsed) return std::nullopt;
  return static_cast<std::int64_t>(parsed->evaluate());
}

}  // namespace

TEST(WholeExpression, ComputesAsCppDoes)
{
  EXPECT_EQ(evaluate_whole("a + b * 3"), 1);
  EXPECT_EQ(evaluate_whole("(a + b) * 3"), 15);
  EXPECT_EQ(evaluate_whole("a - b - 1"), 8);
  EXPECT_EQ(evaluate_whole("a / b"), -3);
  EXPECT_EQ(evaluate_whole("a % b"), 1);
  EXPECT_EQ(evaluate_whole("b % 3"), -2);
  EXPECT_EQ(evaluate_whole("a / 0 + a % 0"), 0);
  EXPECT_EQ(evaluate_whole("-a + +b"), -9);
  EXPECT_EQ(evaluate_whole("- -a"), 7);
  EXPECT_EQ(evaluate_whole("!a + !0"), 1);
  EXPECT_EQ(evaluate_whole("min(a, b, 1) + max(a, b)"), 5);
  EXPECT_EQ(evaluate_whole("abs(b)"), 2);
  EXPECT_EQ(evaluate_whole("bit_and(a, 5) + bit_or(a, 8) + bit_xor(a, 1)"), 5 + 15 + 6);
}

TEST(WholeExpression, Compares)
{
  EXPECT_EQ(evaluate_whole("a > b && b < a"), 1);
  EXPECT_EQ(evaluate_whole("a <= 7 && a >= 7 && a == 7 && !(a != 7)"), 1);
  EXPECT_EQ(evaluate_whole("a < b || a == b"), 0);
  EXPECT_EQ(evaluate_whole("x > y"), 1);
  EXPECT_EQ(evaluate_whole("x < a"), 1);
  EXPECT_EQ(evaluate_whole("a < x"), 0);
  EXPECT_EQ(evaluate_whole("abs(y) == 1 && x * 2 - 5 == y + 1"), 1);
  EXPECT_EQ(evaluate_whole("x >= 2.5 ? a : b"), 7);
  EXPECT_EQ(evaluate_whole("y >= 0 ? a : x == 2.5 ? 3 : 4"), 3);
}

TEST(WholeExpression, IsExactBeyondDoubles)
{
  EXPECT_EQ(evaluate_whole("s.m - 1"), INT64_MAX - 1);
  EXPECT_EQ(evaluate_whole("s.m + 1"), INT64_MIN);
  EXPECT_EQ(evaluate_whole("s.m * s.m / s.m"), INT64_MAX);
  EXPECT_EQ(evaluate_whole("18446744073709551615 - s.m - s.m"), 1);
}

TEST(WholeExpression, LeavesFloatResultsAndFunctionsToMuParser)
{
  for (auto const* text :
       {"x", "a * x", "1.5", "a ? x : 1", "sqrt(a)", "a ^ 2", "unknown", "a +", "(a", "a b", "",
        "min(a", "18446744073709551616", "inf", "x && a", "x % 2 == 0", "min(x, 1)"})
    EXPECT_FALSE(evaluate_whole(text)) << text;
}

TEST(WholeExpression, LeavesDivisionsBesideFloatsToMuParser)
{
  EXPECT_FALSE(evaluate_whole("1 / 3 * x > 0.5"));
  EXPECT_FALSE(evaluate_whole("a / b > x"));
  EXPECT_TRUE(evaluate_whole("x / 2 > 1"));
}

TEST(WholeExpression, RefusesNestingWithoutLimit)
{
  EXPECT_FALSE(evaluate_whole(std::string(1000, '(') + "a" + std::string(1000, ')')));
  EXPECT_TRUE(evaluate_whole(std::string(4000, '-') + "a"));
  std::string choices;
  for (int i = 0; i < 900; ++i) choices += "a?1:";
  EXPECT_FALSE(evaluate_whole(choices + "1"));
}

TEST(JoinedOperands, AreTwoNamesAndAnOperator)
{
  auto const joined = detail::parse_joined(" a.value<b.value ");
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->left, "a.value");
  EXPECT_EQ(joined->operation, '<');
  EXPECT_EQ(joined->right, "b.value");
  for (auto const* text : {"a + b + c", "(a) + b", "a - b", "a", "", "a + 1", "a <= b"})
    EXPECT_FALSE(detail::parse_joined(text)) << text;
}
