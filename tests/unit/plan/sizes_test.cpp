// SPDX-License-Identifier: Apache-2.0
// Sizes of arguments, and how many elements of an output are results.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "changed_plan.hpp"
#include "expect_error.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/plan_values.hpp"

using namespace fatlink;
using detail::find_sizes;
using nlohmann::json;

namespace {

detail::stated_sizes const k_image{{"height", 480}, {"width", 640}};

}  // namespace

TEST(PlanSizes, FollowFromTheExtentsOfArrays)
{
  EXPECT_EQ(find_sizes(plan_text::formulas(), {{"in", {7}}, {"image", {480, 640}}}, {}),
            (std::vector<std::int64_t>{7, 480, 640}));
}

TEST(PlanSizes, AreTakenAsStatedWhereNoArrayHasThem)
{
  EXPECT_EQ(find_sizes(plan_text::formulas(), {{"image", {480, 640}}}, {{"n", 7}}),
            (std::vector<std::int64_t>{7, 480, 640}));
}

TEST(PlanSizes, FollowFromASizeAndANumber)
{
  auto const size_of = [](char const* count, std::size_t extent) {
    return find_sizes(plan_text::formulas({{"/arguments/0/count", count}}), {{"in", {extent}}},
                      k_image)[0];
  };
  EXPECT_EQ(size_of("n + 1", 8), 7);
  EXPECT_EQ(size_of("1 + n", 8), 7);
  EXPECT_EQ(size_of("n - 2", 8), 10);
  EXPECT_EQ(size_of("n * 4", 8), 2);
  EXPECT_EQ(size_of("4 * n", 0), 0);
}

TEST(PlanSizes, DoNotFollowFromOtherFormulas)
{
  for (auto const* count : {"ceil(n / 2)", "n / 1", "2 - n", "n * 3", "n * 0", "max(n, 1)", "n * n",
                            "n + height", "n + 1 + 1"}) {
    auto const formulas = plan_text::formulas({{"/arguments/0/count", count}});
    expect_error<usage_error>(
        [&] {
          find_sizes(formulas, {{"in", {8}}}, k_image);
        },
        "argument n: plan reduce needs this size; neither it nor an array with this extent is "
        "given");
  }
}

TEST(PlanSizes, ThatWouldBeNegativeAreRefused)
{
  auto const formulas = plan_text::formulas({{"/arguments/0/count", "n + 1"}});
  expect_error<usage_error>(
      [&] {
        find_sizes(formulas, {{"in", {0}}}, k_image);
      },
      "argument n: -1 is out of the range of uint64");
}

TEST(PlanSizes, HaveDefaults)
{
  auto const formulas = plan_text::formulas({{"/arguments/4/default", 9}});
  EXPECT_EQ(find_sizes(formulas, {}, k_image)[0], 9);
  EXPECT_EQ(find_sizes(formulas, {{"in", {7}}}, k_image)[0], 7);
}

TEST(PlanSizes, MustAgree)
{
  auto const formulas =
      plan_text::formulas({{"/arguments/2/count", "n"}, {"/arguments/1/shape/1", "n"}});
  expect_error<usage_error>(
      [&] {
        find_sizes(formulas, {{"in", {7}}, {"out", {8}}}, k_image);
      },
      "argument n: is 7 according to argument in, but 8 according to argument out");
  expect_error<usage_error>(
      [&] {
        find_sizes(formulas, {{"in", {7}}, {"image", {480, 9}}}, k_image);
      },
      "argument n: is 7 according to argument in, but 9 according to argument image (dimension 1)");
  expect_error<usage_error>(
      [&] {
        find_sizes(formulas, {{"in", {7}}}, {{"n", 8}});
      },
      "argument n: is 8 according to the value given for it, but 7 according to argument in");
}

TEST(PlanSizes, RefuseWhatThePlanDoesNotHave)
{
  expect_error<usage_error>(
      [&] {
        find_sizes(plan_text::formulas(), {}, {{"m", 8}});
      },
      "argument \"m\": plan reduce has no size of this name");
  expect_error<usage_error>(
      [&] {
        find_sizes(plan_text::formulas(), {{"inn", {8}}}, {});
      },
      "argument \"inn\": plan reduce has no array of this name");
  expect_error<usage_error>(
      [&] {
        find_sizes(plan_text::formulas(), {{"n", {8}}}, {});
      },
      "argument \"n\": plan reduce has no array of this name");
  expect_error<usage_error>(
      [&] {
        find_sizes(plan_text::formulas(), {{"image", {8}}}, {});
      },
      "argument image: has 2 dimensions in the plan; 1 (8) given");
}

TEST(PlanSizes, AreInTheRangeOfTheirType)
{
  expect_error<usage_error>(
      [&] {
        find_sizes(plan_text::formulas(), {}, {{"n", -1}});
      },
      "argument n: -1 is out of the range of uint64, its type in reduce.json");
  expect_error<usage_error>(
      [&] {
        find_sizes(plan_text::formulas(), {{"image", {4294967296, 1}}}, {});
      },
      "argument height: 4294967296 is out of the range of uint32");
  expect_error<usage_error>(
      [&] {
        find_sizes(plan_text::formulas(), {{"in", {1ULL << 63U}}}, {});
      },
      "argument in: an extent of 9223372036854775808, above 2^63 - 1");
}

TEST(PlanSizes, AreComparedWithTheExtentsOfArrays)
{
  auto const formulas = plan_text::formulas({{"/arguments/0/count", "n + 1"}});
  auto const values = compute_without_device(formulas, std::vector<std::int64_t>{7, 480, 640});
  EXPECT_NO_THROW(check_extents(formulas, values, {{"in", {8}}, {"image", {480, 640}}}));
  expect_error<usage_error>(
      [&] {
        check_extents(formulas, values, {{"in", {7}}});
      },
      "argument in: has 8 elements in the plan (arguments[0].count); 7 given");
}

namespace {

/// The example with an output "found" of one integer, and this length of "out".
launch_plan with_length(char const* length)
{
  return plan_text::read_changed([&](json& plan) {
    plan["arguments"].push_back({{"name", "found"}, {"role", "output"}, {"type", "uint64"}});
    plan["launches"][0]["arguments"].push_back("found");
    plan["arguments"][2]["length"] = length;
  });
}

std::optional<std::int64_t> length_of_out(char const* length, std::int64_t found)
{
  auto const plan = with_length(length);
  return detail::compute_length(plan, *plan.find("out"),
                                {{"n", 10}, {"height", 2}, {"width", 3}, {"found", found}});
}

}  // namespace

TEST(OutputLengths, AreFormulasOverSizesAndOutputs)
{
  EXPECT_EQ(length_of_out("found", 4), 4);
  EXPECT_EQ(length_of_out("n - found", 4), 6);
  EXPECT_EQ(length_of_out("min(found, width)", 4), 3);
}

TEST(OutputLengths, HaveNoValueWhereTheFormulaHasNone)
{
  EXPECT_EQ(length_of_out("n / found", 0), std::nullopt);
  EXPECT_EQ(length_of_out("n - found", std::numeric_limits<std::int64_t>::min()), std::nullopt);
}

TEST(OutputLengths, AreKeptInThePlan)
{
  EXPECT_EQ(with_length("n - found").find("out")->length, "n - found");
  EXPECT_EQ(plan_text::read_changed([](json&) {}).find("out")->length, "");
}

TEST(OutputLengths, UseOutputsOfOneIntegerOnly)
{
  plan_argument output{.name = "found",
                       .role = argument_role::output,
                       .type = scalar_type(scalar_kind::int32),
                       .shape = {"1"}};
  EXPECT_TRUE(detail::holds_length(output));
  output.shape = {"n"};
  EXPECT_FALSE(detail::holds_length(output));
  output.shape = {"1"};
  output.type = scalar_type(scalar_kind::float32);
  EXPECT_FALSE(detail::holds_length(output));
  output.type = std::nullopt;
  EXPECT_FALSE(detail::holds_length(output));
}
