// SPDX-License-Identifier: Apache-2.0
// Arrays of inputs and outputs: generated, sorted, compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "environment.hpp"
#include "plan_fixture.hpp"
#include "plan_reference_fixture.hpp"
#include "verification/plan_reference.hpp"
#include "verification/sort_numbers.hpp"

using namespace fatlink;
using namespace plan_fixture;
using detail::sort_numbers;

namespace {

constexpr std::size_t k_count = 50'000;

char const* const k_generated_types[] = {
    "float16", "bfloat16", "float32", "float64", "int8",   "int16",   "int32",     "int64",
    "uint8",   "uint16",   "uint32",  "uint64",  "bytes3", "bytes16", "complex64", "complex128"};

}  // namespace

TEST(Generated, ElementsOfEveryTypeDependOnSeedAndIndexOnly)
{
  for (auto const* name : k_generated_types) {
    auto const type = type_of(name);
    auto const all = generated(type, k_count);
    array part(type, 100);
    generated_elements(type, {k_count}, 1)->fill(30'000, std::span(part.bytes));
    EXPECT_TRUE(std::equal(part.bytes.begin(), part.bytes.end(),
                           all.bytes.begin() + static_cast<std::ptrdiff_t>(30'000 * type.size)))
        << name;
    EXPECT_NE(generated(type, k_count, 2).bytes, all.bytes) << name;
  }
}

TEST(Generated, FloatsHaveSpecialValuesAndAreBelowEight)
{
  for (auto const* name : {"float16", "bfloat16", "float32", "float64"}) {
    auto const values = generated(type_of(name), k_count);
    auto const format = detail::format_of(values.type.kind);
    EXPECT_TRUE(values.get(1).real == 0 && values.get(2).real == 0) << name;
    EXPECT_TRUE(std::signbit(values.get(2).real)) << name;
    EXPECT_EQ(values.get(5).real, format.least_denormal()) << name;
    EXPECT_EQ(values.get(10).real, std::ldexp(1.0, format.least_exponent)) << name;
    for (std::size_t i = 0; i < k_count; ++i) {
      ASSERT_LE(std::abs(values.get(i).real), 8) << name;
    }
  }
}

TEST(Generated, IntegersIncludeTheExtremesOfTheirType)
{
  for (auto const* name :
       {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}) {
    auto const values = generated(type_of(name), k_count);
    auto const kind = values.type.kind;
    EXPECT_TRUE(values.get(6).whole == detail::truncated(kind, 1e30)) << name;
    EXPECT_TRUE(values.get(7).whole == detail::truncated(kind, -1e30)) << name;
    auto const limit = values.type.size <= 2 ? 65536 : 1 << 21;
    for (std::size_t i = 8; i < k_count; ++i) {
      auto const value = values.get(i).real;
      ASSERT_LT(std::abs(value), limit) << name;
    }
  }
}

TEST(Generated, ComponentsOfRecordsHaveNumbersOfTheirOwn)
{
  auto const type = record_type("", {"a", "b", "z"},
                                {type_of("float32"), type_of("float32"), type_of("complex64")});
  auto const values = generated(type, 1000);
  std::size_t equal = 0;
  for (std::size_t i = 12; i < 1000; ++i) {
    std::set<double> const numbers{values.get(i, 0).real, values.get(i, 1).real,
                                   values.get(i, 2).real, values.get(i, 3).real};
    if (numbers.size() < 4) ++equal;
  }
  EXPECT_LE(equal, 1U);
  EXPECT_EQ(values.get(100, 0).real, generated(type_of("float32"), 1000).get(100).real);
}

TEST(Generated, ArgumentsOfOneRunHaveSeedsOfTheirOwn)
{
  EXPECT_EQ(seed_of(7, 0), 7U);
  EXPECT_NE(seed_of(7, 1), seed_of(7, 2));
  EXPECT_NE(seed_of(7, 1), seed_of(8, 1));
}

TEST(Generated, ArraysHaveTheirExtents)
{
  auto const source = generated_elements(type_of("int8"), {3, 4}, 0);
  EXPECT_EQ(source->size(), 12U);
  EXPECT_EQ(source->extents(), (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(generated_elements(type_of("int8"), {}, 0)->size(), 1U);
}

namespace {

hook_reference less(std::string text)
{
  return hook_of("less", {"a", "b"}, std::move(text));
}

/// The elements that sort_numbers returns; none where it returns nothing.
std::vector<double> sorted(std::string const& text, array const& values)
{
  std::vector<double> numbers;
  auto result = values;
  auto const bytes = sort_numbers(less(text), values);
  if (!bytes) return numbers;
  result.bytes = *bytes;
  for (std::size_t i = 0; i < result.count(); ++i) numbers.push_back(result.get(i).real);
  return numbers;
}

array floats(std::string const& type, std::vector<double> const& values)
{
  return {type_of(type), values};
}

class SortNumbersOf : public testing::TestWithParam<char const*> {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Every, SortNumbersOf,
                         testing::Values("float16", "bfloat16", "float32", "float64", "int8",
                                         "int16", "int32", "int64", "uint8", "uint16", "uint32",
                                         "uint64"),
                         parameter_name);

TEST_P(SortNumbersOf, GoUpAndDownOnSeveralCores)
{
  auto const values = generated(type_of(GetParam()), 100000);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < values.count(); ++i) numbers.push_back(values.get(i).real);
  std::ranges::stable_sort(numbers);
  EXPECT_EQ(sorted("a < b", values), numbers);
  EXPECT_EQ(sorted("b > a", values), numbers);
  std::ranges::reverse(numbers);
  EXPECT_EQ(sorted("a > b", values), numbers);
  EXPECT_EQ(sorted("b < a", values), numbers);
}

TEST(SortNumbers, SortOnOneThreadWhereNoOtherCanBeStarted)
{
  auto const values = generated(type_of("float32"), 100000);
  auto const on_several_cores = sorted("a < b", values);
  fixtures::no_more_threads const refusal;
  EXPECT_EQ(sorted("a < b", values), on_several_cores);
}

TEST(SortNumbers, KeepTheOrderOfZerosOfBothSigns)
{
  for (auto const* type : {"float16", "bfloat16", "float32", "float64"})
    for (auto const* text : {"a < b", "a > b"}) {
      auto const result = sorted(text, floats(type, {0.0, 1, -0.0, -0.0, -1, 0.0}));
      std::vector<bool> signs;
      for (auto const value : result)
        if (value == 0) signs.push_back(std::signbit(value));
      EXPECT_EQ(signs, (std::vector<bool>{false, true, true, false})) << type << " " << text;
    }
}

TEST(SortNumbers, SortInfinities)
{
  EXPECT_EQ(sorted("a < b", floats("float32", {HUGE_VAL, 1, -HUGE_VAL})),
            (std::vector<double>{-HUGE_VAL, 1, HUGE_VAL}));
}

TEST(SortNumbers, LeaveOtherSortsToTheHook)
{
  auto const values = floats("float32", {2, 1});
  for (auto const* text : {"a - b < 0", "a < 2", "a * b", "a < a", "abs(a) < abs(b)"})
    EXPECT_FALSE(sort_numbers(less(text), values)) << text;
  EXPECT_FALSE(sort_numbers(less("a < b"), floats("float32", {1, std::nan(""), 0})));
  EXPECT_FALSE(sort_numbers(less("a < b"), array(type_of("complex64"), 2)));
  EXPECT_FALSE(sort_numbers(less("a < b"), array(type_of("bytes4"), 2)));
}

// Two arrays, compared by a tolerance.

TEST(CompareOutputs, AllowsTheLargestOfTheThreeTolerances)
{
  auto const expected = floats({1000, 0});
  auto const compare = [&](std::vector<double> const& values, hook_tolerance tolerance) {
    return compare_outputs(expected, floats(values), tolerance).verified();
  };
  EXPECT_TRUE(compare({1000, 0}, {}));
  EXPECT_FALSE(compare({1001, 0}, {}));
  EXPECT_TRUE(compare({1001, 0}, {.relative = 0.001}));
  EXPECT_FALSE(compare({1002, 0}, {.relative = 0.001}));
  EXPECT_TRUE(compare({1001, 1}, {.absolute = 1}));
  EXPECT_TRUE(compare({1000 + 0x1p-14, 0x1p-149}, {.ulp = 1}));
  EXPECT_FALSE(compare({1000 + 0x1p-13, 0}, {.ulp = 1}));
}

TEST(CompareOutputs, ComparesBytesAndSaysWhatDiffers)
{
  auto const a = generated(bytes_type(5), 1000);
  EXPECT_TRUE(compare_outputs(a, a, {}).verified());
  auto b = a;
  b.at(500)[3] ^= std::byte{1};
  auto const wrong = compare_outputs(a, b, {.absolute = 100});
  EXPECT_EQ(wrong.failures, 1U);
  EXPECT_EQ(wrong.first_failure, 500U);
  EXPECT_EQ(wrong.component, "byte3");
  EXPECT_EQ(compare_outputs(a, floats({1}), {}).reason, "the types differ: bytes5 and float32");
  EXPECT_EQ(compare_outputs(floats({1, 2}), floats({1}), {}).reason,
            "the sizes differ: 2 and 1 elements");
}

TEST(CompareOutputs, StatesTheLargestErrorInUlpWhereTheBoundIsInUlpOnly)
{
  output_verification const bounded{.max_ratio = 0.25, .tolerance_ulp = 4};
  EXPECT_EQ(bounded.max_ulp(), 1);
  EXPECT_EQ((output_verification{.max_ratio = 0, .tolerance_ulp = 0}.max_ulp()), 0);
  EXPECT_FALSE((output_verification{.max_ratio = 0.25}.max_ulp()));
}

TEST(CompareOutputs, StatesTheLargestErrorInUlpOfAnExactBound)
{
  auto const expected = floats({1, 1024, 3});
  auto wrong = compare_outputs(expected, floats({1 + 0x1p-21F, 1024 + 0x1p-13F, 3}), {});
  wrong.tolerance_ulp = 0;
  EXPECT_EQ(wrong.failures, 2U);
  EXPECT_EQ(wrong.max_ulp(), 4);  // of the first; the second has the larger error, of 1 ulp
  auto infinite = compare_outputs(expected, floats({1, 1024, NAN}), {});
  infinite.tolerance_ulp = 0;
  EXPECT_TRUE(std::isinf(infinite.max_ulp().value_or(0)));
}

TEST(CompareOutputs, FindsTheFirstFailureOnAnyCore)
{
  auto const a = generated(type_of("float64"), 300'000);
  for (std::size_t const index : {std::size_t{0}, std::size_t{150'000}, std::size_t{299'999}}) {
    auto b = a;
    b.set(index, 100.0);
    b.set(299'999, 100.0);
    EXPECT_EQ(compare_outputs(a, b, {}).first_failure, index);
  }
}
