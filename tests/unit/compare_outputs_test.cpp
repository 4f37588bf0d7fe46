// SPDX-License-Identifier: Apache-2.0
// Two arrays, compared by a tolerance.
#include "verification/output_verification.hpp"

#include "plan_reference_fixture.hpp"

using namespace fatlink;
using namespace plan_fixture;

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
