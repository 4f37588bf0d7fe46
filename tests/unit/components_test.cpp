// SPDX-License-Identifier: Apache-2.0
#include "plan/components.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

using namespace fatlink;

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
