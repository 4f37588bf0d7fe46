// SPDX-License-Identifier: Apache-2.0
// Formulas of launch plans.
#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <random>
#include <string>

#include "expression/formula.hpp"

using namespace fatlink::detail;

namespace {

formula_symbols const& symbols()
{
  static formula_symbols const names{{"n", {.value = 0}},
                                     {"k", {.value = 1}},
                                     {"multiprocessors", {.value = 2}},
                                     {"occupancy(reduce_tiles)", {.value = 3}},
                                     {"sizeof(in)", {.is_constant = true, .value = 4}}};
  return names;
}

std::int64_t evaluate_formula(std::string const& text, std::int64_t n = 0, std::int64_t k = 0)
{
  std::array<std::int64_t, 4> const values{n, k, 132, 2};
  return formula(text, symbols()).evaluate(values.data());
}

/// Expects that `text` fails with `cause` in the message and `hint` in the remedy.
void expect_failure(std::string const& text, std::string const& cause, std::string const& hint = "",
                    std::int64_t n = 0, std::int64_t k = 0)
{
  try {
    evaluate_formula(text, n, k);
    ADD_FAILURE() << text << ": no error; expected one that says: " << cause;
  } catch (expression_error const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(cause)) << text;
    EXPECT_THAT(error.hint(), testing::HasSubstr(hint)) << text;
    EXPECT_FALSE(error.hint().empty()) << text;
  }
}

constexpr auto k_largest = std::numeric_limits<std::int64_t>::max();
constexpr auto k_smallest = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST(Formula, MultipliesBeforeItAdds)
{
  EXPECT_EQ(evaluate_formula("1 + 2 * 3 - 4"), 3);
  EXPECT_EQ(evaluate_formula("(1 + 2) * 3"), 9);
  EXPECT_EQ(evaluate_formula("10 - 2 - 3"), 5);
  EXPECT_EQ(evaluate_formula("100 / 10 / 3"), 3);
  EXPECT_EQ(evaluate_formula("7 % 4 * 2"), 6);
}

TEST(Formula, RoundsDivisionsDownAndCeilUp)
{
  EXPECT_EQ(evaluate_formula("7 / 2"), 3);
  EXPECT_EQ(evaluate_formula("ceil(7 / 2)"), 4);
  EXPECT_EQ(evaluate_formula("ceil(8 / 2)"), 4);
  EXPECT_EQ(evaluate_formula("ceil(n / k)", 0, 5), 0);
  EXPECT_EQ(evaluate_formula("ceil((n + 1) * 2 / k)", 1, 3), 2);
  EXPECT_EQ(evaluate_formula("ceil(n / k)", k_largest, 1), k_largest);
}

TEST(Formula, NegatesAnyNumberOfTimes)
{
  EXPECT_EQ(evaluate_formula("-n", 5), -5);
  EXPECT_EQ(evaluate_formula("--n", 5), 5);
  EXPECT_EQ(evaluate_formula("3 - -n", 5), 8);
  EXPECT_EQ(evaluate_formula("-n * 2", 5), -10);
}

TEST(Formula, ComparesAsOneOrZero)
{
  EXPECT_EQ(evaluate_formula("1 + 1 < 3"), 1);
  EXPECT_EQ(evaluate_formula("2 <= 1"), 0);
  EXPECT_EQ(evaluate_formula("2 > 1"), 1);
  EXPECT_EQ(evaluate_formula("(2 >= 3) + (2 != 3) + (3 == 3)"), 2);
}

TEST(Formula, EvaluatesOnlyTheBranchThatIsTaken)
{
  EXPECT_EQ(evaluate_formula("k == 0 ? 0 : n / k", 7, 0), 0);
  EXPECT_EQ(evaluate_formula("k == 0 ? 0 : n / k", 7, 2), 3);
  EXPECT_EQ(evaluate_formula("n < 1 ? 10 : n < 2 ? 20 : 30", 1), 20);
  EXPECT_EQ(evaluate_formula("1 + (n ? 2 : 3)", 0), 4);
}

TEST(Formula, EvaluatesTheRightOfAndAndOrOnlyIfTheResultDependsOnIt)
{
  EXPECT_EQ(evaluate_formula("k != 0 && n / k > 2", 7, 0), 0);
  EXPECT_EQ(evaluate_formula("k != 0 && n / k > 2", 7, 2), 1);
  EXPECT_EQ(evaluate_formula("k == 0 || n / k > 2", 7, 0), 1);
  EXPECT_EQ(evaluate_formula("k == 0 || n / k > 2", 7, 3), 0);
  EXPECT_EQ(evaluate_formula("1 + (n && k || !n) * 2", 5, 6), 3);
  expect_failure("n && n / k", "division by zero", "", 7);
}

TEST(Formula, HasTheFunctionsOfIntegers)
{
  EXPECT_EQ(evaluate_formula("abs(-n) + sum(n, k, 1)", 5, 2), 13);
  EXPECT_EQ(evaluate_formula("bit_and(n, 6) + bit_or(n, 8) + bit_xor(n, 1)", 5), 4 + 13 + 4);
  expect_failure("abs(n)", "overflows 64 bits", "", k_smallest);
  expect_failure("n ^ 2", "'^' at character 3 is not an operator of integers", "n * n");
}

TEST(Formula, TakesTheSmallestAndTheLargestOfAnyNumber)
{
  EXPECT_EQ(evaluate_formula("min(3, 1, 2)"), 1);
  EXPECT_EQ(evaluate_formula("max(3)"), 3);
  EXPECT_EQ(evaluate_formula("max(n, min(k, 5))", 2, 9), 5);
}

TEST(Formula, UsesSizesAndFactsOfTheDevice)
{
  EXPECT_EQ(
      evaluate_formula("min(occupancy(reduce_tiles) * multiprocessors, ceil(n / 8192))", 1 << 30),
      264);
  EXPECT_EQ(evaluate_formula("n * sizeof(in)", 3), 12);
  EXPECT_EQ(evaluate_formula("n*sizeof( in )", 3), 12);
}

TEST(Formula, ListsTheValuesThatItUses)
{
  EXPECT_EQ(formula("k + n * n", symbols()).uses(), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(formula("2 * sizeof(in)", symbols()).uses().empty());
  EXPECT_TRUE(formula(" n ", symbols()).is_name());
  EXPECT_FALSE(formula("n + 0", symbols()).is_name());
  EXPECT_FALSE(formula("1", symbols()).is_name());
}

TEST(Formula, RefusesOverflows)
{
  auto const limit = std::to_string(k_largest);
  EXPECT_EQ(evaluate_formula(limit), k_largest);
  EXPECT_EQ(evaluate_formula("-n - 1", k_largest), k_smallest);
  expect_failure("n + 1", limit + " + 1 overflows 64 bits (at character 3)", "smaller sizes",
                 k_largest);
  expect_failure("n * 2", "* 2 overflows 64 bits", "", k_largest);
  expect_failure("n - 1", "- 1 overflows 64 bits", "", k_smallest);
  expect_failure("-n", "0 - -9223372036854775808 overflows 64 bits", "", k_smallest);
  expect_failure("9223372036854775808", "9223372036854775808 is above 2^63 - 1", "write a number");
}

TEST(Formula, RefusesDivisionsByZeroAndOfNegativeNumbers)
{
  expect_failure("n / k", "division by zero: 7 / 0 (at character 3)", "max(1, …)", 7);
  expect_failure("n % k", "division by zero: 7 % 0", "", 7);
  expect_failure("ceil(n / k)", "division by zero: 7 / 0 (at character 8)", "", 7);
  expect_failure("n / 2", "division of a negative number: -7 / 2", "not negative", -7);
  expect_failure("n / k", "division of a negative number: 7 / -2", "not negative", 7, -2);
}

TEST(Formula, RefusesUnknownNamesWithTheMostSimilar)
{
  expect_failure("multiprocesors", "unknown name multiprocesors", "did you mean multiprocessors?");
  expect_failure("occupancy(reduce_tile)", "unknown name occupancy(reduce_tile)",
                 "did you mean occupancy(reduce_tiles)?");
  expect_failure("sizeof(im)", "unknown name sizeof(im)", "did you mean sizeof(in)?");
  expect_failure("occupancy(x)", "unknown name occupancy(x)", "the kernel of a launch");
  expect_failure("sizeof(blob)", "unknown name sizeof(blob)", "an argument or a type");
  expect_failure("x", "unknown name x", "use a size");
  expect_failure("sqrt(n)", "unknown function sqrt at character 1", "the functions are");
  expect_failure("maxx(1, 2)", "unknown function maxx at character 1", "did you mean max?");
  expect_failure("f(1)", "unknown function f", "the functions are");
}

TEST(Formula, RefusesTextThatIsNoFormula)
{
  expect_failure("", "expected a number, a name or '(' at character 1; it ends");
  expect_failure("n n", "expected the end at character 3; found 'n'");
  expect_failure("n + ", "expected a number, a name or '(' at character 5; it ends");
  expect_failure("(n", "expected ')' at character 3; it ends");
  expect_failure("n ? 1", "expected ':' at character 6; it ends");
  expect_failure("1 < 2 < 3", "expected the end at character 7; found '<'");
  expect_failure("min()", "expected a number, a name or '(' at character 5; found ')'");
  expect_failure("ceil(n)", "ceil at character 1 has no division", "ceil(a / b)");
  expect_failure("ceil(1 + n / 2)", "ceil at character 1 has no division");
  expect_failure("1e6", "'1e6' at character 1 is not a whole number", "decimal digits");
  expect_failure("n * 1.5", "'1.5' at character 5 is not a whole number", "decimal digits");
  expect_failure("n & 1", "expected the end at character 3; found '&'");
  expect_failure("µ", "found 'µ'");
}

TEST(Formula, LimitsItsLengthAndNesting)
{
  EXPECT_EQ(evaluate_formula(std::string(63, '(') + "1" + std::string(63, ')')), 1);
  expect_failure(std::string(64, '(') + "1" + std::string(64, ')'), "nests deeper than 64",
                 "\"let\"");
  expect_failure(std::string(4097, '1'), "has 4097 characters, above 4096", "\"let\"");
  EXPECT_EQ(evaluate_formula(std::string(4094, '-') + "1"), 1);
  std::string deep = "1";
  for (int i = 0; i < 63; ++i) deep = "1 < 1 + 1 * (" + deep + ")";
  EXPECT_EQ(evaluate_formula(deep), 1);
}

TEST(Formula, AgreesWithCppOnRandomSums)
{
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> number(0, 1000);
  for (int i = 0; i < 1000; ++i) {
    auto const n = number(random);
    auto const k = number(random) + 1;
    EXPECT_EQ(evaluate_formula("n * k + n / k - n % k + ceil(n / k) + (n < k ? n : k)", n, k),
              n * k + n / k - n % k + (n + k - 1) / k + (n < k ? n : k));
  }
}
