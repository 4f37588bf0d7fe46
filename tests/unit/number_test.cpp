// SPDX-License-Identifier: Apache-2.0
#include "util/text/number.hpp"

#include <gtest/gtest.h>

using fatlink::detail::read_count;
using fatlink::detail::read_decimal;

TEST(Number, ReadsCountsWithFractionsExponentsAndUnits)
{
  for (auto const& [text, value] : std::initializer_list<std::pair<char const*, std::uint64_t>>{
           {"0", 0},
           {"0.0e5", 0},
           {"0e99999", 0},
           {"007", 7},
           {"18446744073709551615", 18446744073709551615U},
           {"1e19", 10000000000000000000U},
           {"1E+6", 1000000},
           {"1500e-2", 15},
           {"1.5M", 1500000},
           {"2k", 2000},
           {"2K", 2000},
           {"3G", 3000000000},
           {"64Ki", 65536},
           {"0.5Ki", 512},
           {"0.0009765625Ki", 1},
           {"1.25Mi", 1310720},
           {"16777215.5Gi", 18014397972611072U},
           {"1e3k", 1000000}})
    EXPECT_EQ(read_count(text), value) << text;
}

TEST(Number, RefusesWhatIsNoWholeNumberOf64Bits)
{
  for (auto const* text : {"",
                           "-1",
                           "+1",
                           " 1",
                           "1 ",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "0x10",
                           "1_0",
                           "nan",
                           "inf",
                           "1T",
                           "1ki",
                           "1Kb",
                           "1KiB",
                           "KM",
                           "1KM",
                           "1i",
                           "1kk",
                           "1.5",
                           "1e-1",
                           "0.1Ki",
                           "1.0001k",
                           "1e20",
                           "1e999",
                           "1e99999999999999999999",
                           "18446744073709551616",
                           "17179869184Gi",
                           "1,5",
                           "1'000",
                           "１"})
    EXPECT_EQ(read_count(text), std::nullopt) << text;
}

TEST(Number, ReadsDecimals)
{
  EXPECT_EQ(read_decimal("60"), 60);
  EXPECT_EQ(read_decimal("0.25"), 0.25);
  EXPECT_EQ(read_decimal("2.5e1"), 25);
  for (auto const* text : {"", "nan", "NaN", "inf", "-1", "1e999", "0x1p3", "1s", "1k", ".5", "1."})
    EXPECT_EQ(read_decimal(text), std::nullopt) << text;
}
