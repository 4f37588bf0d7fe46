// SPDX-License-Identifier: Apache-2.0
#include "fatlink/verify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "verification/elements.hpp"

using namespace fatlink;

namespace {

float const k_inf = std::numeric_limits<float>::infinity();
float const k_nan = std::numeric_limits<float>::quiet_NaN();
float const k_max = std::numeric_limits<float>::max();

reference const k_identity_reference{
    .name = "i", .summary = "", .hook = "h", .expression = "x", .tolerance_ulp = 0, .file = ""};

}  // namespace

TEST(UlpDistance, CountsInSpacingsAtTheExpectedValue)
{
  EXPECT_EQ(ulp_distance(1.0F, 1.0), 0);
  EXPECT_EQ(ulp_distance(std::nextafter(1.0F, 2.0F), 1.0), 1);
  EXPECT_EQ(ulp_distance(1.0F, 1.0 + 0x1p-24), 0.5);
  EXPECT_EQ(ulp_distance(0x1p-149F, 0.0), 1);
  EXPECT_EQ(ulp_distance(0x1p-149F, 0x1p-148), 1);
  EXPECT_EQ(ulp_distance(-0.0F, 0.0), 0);
}

TEST(UlpDistance, TakesNanOnlyForNanAndInfinityOnlyForItself)
{
  EXPECT_EQ(ulp_distance(k_nan, std::nan("")), 0);
  EXPECT_TRUE(std::isinf(ulp_distance(k_nan, 1.0)));
  EXPECT_TRUE(std::isinf(ulp_distance(1.0F, std::nan(""))));
  EXPECT_EQ(ulp_distance(k_inf, HUGE_VAL), 0);
  EXPECT_TRUE(std::isinf(ulp_distance(-k_inf, HUGE_VAL)));
  EXPECT_TRUE(std::isinf(ulp_distance(k_max, HUGE_VAL)));
}

TEST(UlpDistance, SeesThatLargeValuesRoundToInfinity)
{
  EXPECT_EQ(ulp_distance(k_inf, 1e39), 0);
  EXPECT_TRUE(std::isinf(ulp_distance(-k_inf, 1e39)));
  EXPECT_EQ(ulp_distance(k_inf, static_cast<double>(k_max)), 1);
}

TEST(UlpSteps, WalksTheNumberLine)
{
  EXPECT_EQ(ulp_steps(0.0F, -0.0F), 0U);
  EXPECT_EQ(ulp_steps(-0x1p-149F, 0x1p-149F), 2U);
  EXPECT_EQ(ulp_steps(k_max, k_inf), 1U);
  EXPECT_EQ(ulp_steps(k_nan, -k_nan), 0U);
  EXPECT_GT(ulp_steps(k_nan, k_inf), std::uint64_t{1} << 40);
}

TEST(Verify, FindsTheOneWrongElementOnAnyCore)
{
  auto const source = generated_elements(300'000, 1);
  std::vector<float> input(source->size());
  source->fill(0, input);
  auto out = input;
  EXPECT_TRUE(verify_chunk(k_identity_reference, input, out, 0).verified());
  for (std::size_t const wrong : {std::size_t{0}, std::size_t{150'000}, input.size() - 1}) {
    out[wrong] += 1.0F;
    auto const summary = verify_chunk(k_identity_reference, input, out, 1000);
    EXPECT_FALSE(summary.verified());
    EXPECT_EQ(summary.failures, 1U);
    EXPECT_EQ(summary.first_failure, 1000 + wrong);
    EXPECT_EQ(summary.first_input, input[wrong]);
    EXPECT_EQ(summary.elements, input.size());
    out[wrong] = input[wrong];
  }
}

TEST(Verify, OfNothingIsNotVerified)
{
  EXPECT_FALSE(verification{}.verified());
}

TEST(Verify, MergesTheFirstFailureAndTheWorstError)
{
  verification a{.elements = 2, .failures = 0, .max_ulp = 3, .max_abs_error = 0.5};
  a += verification{
      .elements = 2, .failures = 1, .max_ulp = 1, .max_abs_error = 2, .first_failure = 7};
  a += verification{.elements = 1, .failures = 1, .first_failure = 9};
  EXPECT_EQ(a.elements, 5U);
  EXPECT_EQ(a.failures, 2U);
  EXPECT_EQ(a.first_failure, 7U);
  EXPECT_EQ(a.max_ulp, 3);
  EXPECT_EQ(a.max_abs_error, 2);
}

TEST(Elements, DependOnSeedAndIndexAlone)
{
  auto const source = generated_elements(100'000, 5);
  std::vector<float> all_values(source->size());
  std::vector<float> part(50);
  source->fill(0, all_values);
  source->fill(70'000, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all_values.begin() + 70'000));
  generated_elements(100'000, 6)->fill(70'000, part);
  EXPECT_FALSE(std::equal(part.begin(), part.end(), all_values.begin() + 70'000));
  for (auto const x : all_values) EXPECT_TRUE(x >= -8 && x < 8);
}
