// SPDX-License-Identifier: Apache-2.0
// The expression language as references use it; formulas_test.cpp has formulas of launch plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "expression/program.hpp"
#include "expression/words.hpp"
#include "plan/components.hpp"

using namespace fatlink::detail;
using namespace fatlink;

namespace {

constexpr auto k_infinity = std::numeric_limits<double>::infinity();

struct expression_value {
  bool is_integer = false;
  std::int64_t whole = 0;
  double real = 0;
};

/// In a = 7, b = -2, s.m = 2^63 - 1 and the floats x = 2.5, y = -1, z = -0, nan and inf.
expression_value evaluate_expression(std::string const& text)
{
  static std::array const values{whole_number(7),         whole_number(-2),
                                 whole_number(INT64_MAX), number{.real = 2.5},
                                 number{.real = -1},      number{.real = -0.0},
                                 number{.real = NAN},     number{.real = k_infinity}};
  std::vector<expression_variable> variables;
  for (auto const* name : {"a", "b", "s.m", "x", "y", "z", "nan", "inf"}) {
    auto const& value = values.at(variables.size());
    variables.push_back({name, variables.size() < 3, &value.real, &value.whole});
  }
  expression_program program(expression_syntax(text, expression_use::reference), variables);
  program.evaluate();
  if (!program.is_integer()) return {.real = *program.reals()};
  return {.is_integer = true,
          .whole = static_cast<std::int64_t>(*program.wholes()),
          .real = static_cast<double>(*program.wholes())};
}

void expect_integer(std::string const& text, std::int64_t expected)
{
  auto const value = evaluate_expression(text);
  EXPECT_TRUE(value.is_integer) << text;
  EXPECT_EQ(value.whole, expected) << text;
}

void expect_real(std::string const& text, double expected)
{
  auto const value = evaluate_expression(text);
  EXPECT_FALSE(value.is_integer) << text;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value.real), std::bit_cast<std::uint64_t>(expected))
      << text << " is " << value.real << ", not " << expected;
}

void expect_refused_expression(std::string const& text, std::string const& cause,
                               std::string const& hint = "")
{
  try {
    evaluate_expression(text);
    ADD_FAILURE() << text << ": no error; expected one that says: " << cause;
  } catch (expression_error const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(cause)) << text;
    EXPECT_THAT(error.hint(), testing::HasSubstr(hint)) << text;
  }
}

}  // namespace

TEST(Expression, ComputesIntegersAsCppDoes)
{
  expect_integer("a + b * 3", 1);
  expect_integer("(a + b) * 3", 15);
  expect_integer("a - b - 1", 8);
  expect_integer("a / b", -3);
  expect_integer("a % b", 1);
  expect_integer("b % 3", -2);
  expect_integer("a / 0 + a % 0", 0);
  expect_integer("-a + +b", -9);
  expect_integer("- -a", 7);
  expect_integer("!a + !0", 1);
  expect_integer("min(a, b, 1) + max(a, b)", 5);
  expect_integer("abs(b) + sum(a, b, 1)", 8);
  expect_integer("bit_and(a, 5) + bit_or(a, 8) + bit_xor(a, 1)", 5 + 15 + 6);
}

TEST(Expression, Compares)
{
  expect_integer("a > b && b < a", 1);
  expect_integer("a <= 7 && a >= 7 && a == 7 && !(a != 7)", 1);
  expect_integer("a < b || a == b", 0);
  expect_integer("x > y", 1);
  expect_integer("x < a", 1);
  expect_integer("a < x", 0);
  expect_integer("abs(y) == 1 && x * 2 - 5 == y + 1", 1);
  expect_integer("x >= 2.5 ? a : b", 7);
  expect_integer("y >= 0 ? a : x == 2.5 ? 3 : 4", 3);
  expect_integer("nan < 1 || nan >= 1 || nan == nan", 0);
  expect_integer("nan != nan && (nan || 0) && !z", 1);
  expect_integer("1 || 0 && 0", 1);
}

TEST(Expression, IsExactBeyondDoubles)
{
  expect_integer("s.m - 1", INT64_MAX - 1);
  expect_integer("s.m + 1", INT64_MIN);
  expect_integer("s.m * s.m / s.m", INT64_MAX);
  expect_integer("18446744073709551615 - s.m - s.m", 1);
  expect_integer("x > 0 ? s.m - 1 == s.m : 2", 0);
}

TEST(Expression, ComputesDoublesWhereOneIsInvolved)
{
  expect_real("x", 2.5);
  expect_real("a * x", 17.5);
  expect_real("1 / 4 * x", 0.625);
  expect_real("a / b + 0.0", -3.5);
  expect_real("a ? x : 1", 2.5);
  expect_real("0 ? x : a", 7);
  expect_real("min(x, 1, a) + max(y, b)", 0);
  expect_real("sqrt(a + 2)", 3);
  expect_real("floor(a / b)", -4);
  expect_real("18446744073709551616", 0x1p64);
  expect_real("s.m * s.m * s.m * x", 0x1p189 * 2.5);  // no overflow of integers on the way
  expect_real("1.5e+1 + .5 + 1e-1", 15.6);
  expect_real("(a > b) * x", 2.5);
  expect_integer("a / b > y", 0);  // -3.5
}

TEST(Expression, KeepsZerosInfinitiesAndNan)
{
  expect_real("2 * z", -0.0);
  expect_real("-z", 0.0);
  expect_real("z + 0", 0.0);
  expect_real("abs(z)", 0.0);
  expect_real("1 / z", -k_infinity);
  expect_real("inf * y", -k_infinity);
  EXPECT_TRUE(std::isnan(evaluate_expression("inf - inf").real));
  for (auto const* text : {"max(0, nan)", "max(nan, 0)", "min(0, nan)", "min(nan, 0)"})
    EXPECT_TRUE(std::isnan(evaluate_expression(text).real)) << text;
}

TEST(Expression, RaisesBeforeItNegates)
{
  expect_real("-x ^ 2", -6.25);
  expect_real("2 ^ -y", 2);
  expect_real("2 ^ 3 ^ 2", 512);
  expect_real("a ^ 2", 49);
  expect_real("(0.1 * y) ^ 2", 0.1 * 0.1);  // correctly rounded
}

TEST(Expression, CallsTheFunctionsOfItsTable)
{
  expect_real("pi", 3.14159265358979323846);
  expect_real("fma(x, 3, 1) + hypot(3, 4) + fmod(x, 2)", 8.5 + 5 + 0.5);
  expect_real("rint(x) + round(x) + trunc(x) + ceil(x) + floor(x)", 2 + 3 + 2 + 3 + 2);
  expect_real("sign(y) + sign(x) + sign(z) + signbit(z)", 1);
  expect_real("f32(0.1) - f16(0.1) + bf16(0.1)", double{0.1F} - 0.0999755859375 + 0.10009765625);
  expect_real("log(x) - ln(x) + log2(8) + log10(100) + avg(1, 2, 6)", 8);
  expect_real("0.5*x*erfc(-x/sqrt(2))", 0.5 * 2.5 * std::erfc(-2.5 / std::sqrt(2.0)));
  expect_real("sin(x)*exp(-abs(x)/8)", std::sin(2.5) * std::exp(-2.5 / 8));
  for (auto const& name : list_functions(expression_use::reference)) {
    auto const call = [&](char const* arguments) { return name + arguments; };
    auto const* const function = find_function(name, expression_use::reference);
    EXPECT_NO_THROW(evaluate_expression(call(function->of_three != nullptr ? "(1, 1, 1)"
                                             : function->of_two != nullptr ? "(1, 1)"
                                                                           : "(1)")))
        << name;
  }
}

TEST(Expression, RefusesWithThePlaceAndTheMostSimilarWord)
{
  expect_refused_expression("2*q", "unknown name q at character 3");
  expect_refused_expression("x + s.n", "unknown name s.n at character 5", "did you mean s.m?");
  expect_refused_expression("1 + sinn(x)", "unknown function sinn at character 5",
                            "did you mean sin?");
  expect_refused_expression("sizeof(x)", "unknown function sizeof");
  expect_refused_expression("fma(x, 1)", "fma at character 1 takes 3 arguments, not 2");
  expect_refused_expression("sqrt(x, 1)", "sqrt at character 1 takes 1 argument, not 2");
  expect_refused_expression("min()", "expected a number, a name or '(' at character 5; found ')'");
  expect_refused_expression("x % 2 == 0", "% at character 3 takes integers", "fmod(a, b)");
  expect_refused_expression("bit_and(x, 1)", "bit_and at character 1 takes integers");
  expect_refused_expression("bit_xor(1, a, 0.5)", "bit_xor at character 1 takes integers");
  expect_refused_expression("a +", "expected a number, a name or '(' at character 4; it ends");
  expect_refused_expression("(a", "expected ')' at character 3; it ends");
  expect_refused_expression("a b", "expected the end at character 3; found 'b'");
  expect_refused_expression("1 < x < 2", "expected the end at character 7; found '<'");
  expect_refused_expression("x = 1", "expected the end at character 3; found '='");
  expect_refused_expression("1.2.3", "'1.2.3' at character 1 is not a number");
  expect_refused_expression("0x10", "'0x10' at character 1 is not a number");
  expect_refused_expression("1e999", "1e999 at character 1 is out of the range of double");
  expect_refused_expression("", "expected a number, a name or '(' at character 1; it ends");
}

TEST(Expression, LimitsItsLengthAndNesting)
{
  expect_real(std::string(63, '(') + "x" + std::string(63, ')'), 2.5);
  expect_refused_expression(std::string(64, '(') + "x" + std::string(64, ')'),
                            "nests deeper than 64");
  expect_integer(std::string(4000, '-') + "a", 7);
  expect_refused_expression(std::string(4096, '-') + "a", "has 4097 characters, above 4096",
                            "shorten it");
  std::string choices;
  std::string sum = "x";
  for (int i = 0; i < 100; ++i) choices += "a?1:";
  for (int i = 0; i < 2000; ++i) sum += "+1";
  expect_refused_expression(choices + "1", "nests deeper than 64");
  expect_real(sum, 2002.5);
}

TEST(Expression, EvaluatesBlocksAsSingleElements)
{
  auto const* const text = "x < 0 ? -x * k : (k % 3) / 2 + 1 / 3 * sqrt(x) + min(x, k)";
  std::vector<double> x(300);
  std::vector<double> k(x.size());
  std::vector<int128> wholes(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i) - 100.25;
    wholes[i] = static_cast<int128>(i) - 20;
    k[i] = static_cast<double>(wholes[i]);
  }
  expression_syntax const syntax(text, expression_use::reference);
  std::array const variables{expression_variable{"x", false, x.data()},
                             expression_variable{"k", true, k.data(), wholes.data()}};
  expression_program block(syntax, variables, x.size());
  block.evaluate(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::array const one{expression_variable{"x", false, &x[i]},
                         expression_variable{"k", true, &k[i], &wholes[i]}};
    expression_program single(syntax, one);
    single.evaluate();
    EXPECT_EQ(*single.reals(), block.reals()[i]) << i;
  }
}

TEST(Expression, KnowsTwoJoinedNames)
{
  expression_syntax const syntax(" a.value<(b.value) ", expression_use::reference);
  auto const joined = syntax.joined();
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->left, "a.value");
  EXPECT_EQ(joined->code, expression_code::less);
  EXPECT_EQ(joined->right, "b.value");
  for (auto const* text : {"a + b + c", "-a", "a", "a + 1", "a ? b : c"})
    EXPECT_FALSE(expression_syntax(text, expression_use::reference).joined()) << text;
}

namespace {

constexpr std::array k_kinds{scalar_kind::float16, scalar_kind::bfloat16, scalar_kind::float32,
                             scalar_kind::float64, scalar_kind::int8,     scalar_kind::int16,
                             scalar_kind::int32,   scalar_kind::int64,    scalar_kind::uint8,
                             scalar_kind::uint16,  scalar_kind::uint32,   scalar_kind::uint64};

detail::number through(scalar_kind kind, detail::number value)
{
  std::array<std::byte, 8> bytes{};
  detail::store(kind, value, bytes.data());
  return detail::load(kind, bytes.data());
}

}  // namespace

TEST(Components, OfEveryTypeKeepSmallNumbers)
{
  for (auto const kind : k_kinds) {
    EXPECT_EQ(through(kind, {.real = 5, .whole = 5}).real, 5) << to_string(kind);
    EXPECT_EQ(detail::size_of(kind), scalar_type(kind).size) << to_string(kind);
  }
}

TEST(Components, Of64BitsAreExactBeyondDoubles)
{
  auto const odd = (detail::int128(1) << 53) + 1;
  EXPECT_TRUE(through(scalar_kind::int64, {.whole = -odd}).whole == -odd);
  auto const most = static_cast<detail::int128>(UINT64_MAX);
  EXPECT_TRUE(through(scalar_kind::uint64, {.whole = most}).whole == most);
  EXPECT_EQ(detail::to_text(scalar_kind::uint64, {.whole = most}), "18446744073709551615");
  EXPECT_EQ(detail::to_text(scalar_kind::int64, {.whole = INT64_MIN}), "-9223372036854775808");
}

TEST(Components, ShowNoSignOfANan)
{
  EXPECT_EQ(detail::to_text(scalar_kind::float32, {.real = -std::nan("")}), "nan");
}

TEST(Components, AreRoundedOrWrappedByStoring)
{
  EXPECT_EQ(through(scalar_kind::float16, {.real = 1 + 0x1p-11}).real, 1);
  EXPECT_EQ(through(scalar_kind::bfloat16, {.real = 1 + 0x1.8p-8}).real, 1 + 0x1p-7);
  EXPECT_EQ(through(scalar_kind::float16, {.real = 65520}).real, HUGE_VAL);
  EXPECT_EQ(through(scalar_kind::int8, {.whole = 130}).real, -126);
  EXPECT_EQ(through(scalar_kind::uint8, {.whole = -1}).real, 255);
}

TEST(Components, OfFloatsAreTruncatedIntoTheRangeOfIntegers)
{
  auto const truncated = [](scalar_kind kind, double value) {
    return static_cast<std::int64_t>(detail::truncated(kind, value));
  };
  EXPECT_EQ(truncated(scalar_kind::int8, -2.75), -2);
  EXPECT_EQ(truncated(scalar_kind::int8, 1000), 127);
  EXPECT_EQ(truncated(scalar_kind::uint8, -1), 0);
  EXPECT_EQ(truncated(scalar_kind::int64, 1e30), INT64_MAX);
  EXPECT_EQ(truncated(scalar_kind::int64, -HUGE_VAL), INT64_MIN);
  EXPECT_EQ(truncated(scalar_kind::int32, std::nan("")), 0);
}

TEST(Components, OfComplexNumbersAndRecordsHaveNamesAndPartners)
{
  auto const type = record_type(
      "", {"id", "z"}, {scalar_type(scalar_kind::int8), scalar_type(scalar_kind::complex64)});
  auto const parts = detail::components_of(type);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].name, "id");
  EXPECT_EQ(parts[1].name, "z.real");
  EXPECT_EQ(parts[2].name, "z.imag");
  EXPECT_EQ(parts[2].offset, 12U);
  EXPECT_EQ(parts[1].partner, 1);
  EXPECT_EQ(parts[2].partner, -1);
  EXPECT_EQ(detail::components_of(scalar_type(scalar_kind::complex128))[1].offset, 8U);
  EXPECT_EQ(detail::components_of(bytes_type(3)).size(), 3U);
}

TEST(Components, KnowTheSpacingOfEveryFormat)
{
  auto const half = detail::format_of(scalar_kind::float16);
  EXPECT_EQ(half.spacing_at(1), 0x1p-10);
  EXPECT_EQ(half.spacing_at(-2), 0x1p-9);
  EXPECT_EQ(half.spacing_at(0), 0x1p-24);
  EXPECT_EQ(half.spacing_at(0x1p-20), 0x1p-24);
  EXPECT_EQ(half.overflow(), 65520);
  EXPECT_EQ(half.unit_roundoff(), 0x1p-11);
  auto const single = detail::format_of(scalar_kind::float32);
  EXPECT_EQ(single.spacing_at(1), 0x1p-23);
  EXPECT_EQ(single.overflow(), 0x1.ffffffp127);
  EXPECT_EQ(single.least_denormal(), 0x1p-149);
  EXPECT_EQ(detail::format_of(scalar_kind::bfloat16).overflow(), 0x1.ffp127);
  EXPECT_EQ(detail::format_of(scalar_kind::float64).spacing_at(1), 0x1p-52);
  EXPECT_EQ(detail::format_of(scalar_kind::float64).overflow(), HUGE_VAL);
}
