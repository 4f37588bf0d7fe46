// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "plan_fixture.hpp"

using namespace fatlink;
using namespace plan_fixture;

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
