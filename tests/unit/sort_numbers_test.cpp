// SPDX-License-Identifier: Apache-2.0
#include "verification/sort_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "environment.hpp"
#include "plan_fixture.hpp"

using namespace fatlink;
using namespace plan_fixture;
using detail::sort_numbers;

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
