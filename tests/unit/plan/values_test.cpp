// SPDX-License-Identifier: Apache-2.0
// What the formulas of a launch plan compute: extents, launches, sizes of elements, depth; and what
// is refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "changed_plan.hpp"
#include "expect_error.hpp"
#include "plan/bind_types.hpp"
#include "plan/plan_values.hpp"

using namespace fatlink;
using detail::compute_values;
using detail::compute_without_device;
using detail::plan_formulas;
using nlohmann::json;

namespace {

detail::device_facts gpu_facts()
{
  return {.multiprocessors = 132,
          .shared_memory = 232448,
          .element_bytes = 4,
          .occupancy = [](std::string const&, unsigned, std::size_t) { return 4; }};
}

/// The values for n elements and an image of 480 rows of 640.
detail::plan_values values_for(plan_formulas const& formulas, std::int64_t n)
{
  std::vector<std::int64_t> const sizes{n, 480, 640};
  return compute_values(formulas, sizes, gpu_facts());
}

/// Expects that the change to the example is refused for n = 100.
void expect_change_refused(char const* pointer, json const& value, std::string const& says)
{
  auto const formulas = plan_text::formulas({{pointer, value}});
  expect_error<file_error>([&] { values_for(formulas, 100); }, says);
}

}  // namespace

TEST(PlanValues, ComputesExtentsAndLaunches)
{
  auto const values = values_for(plan_text::formulas(), 100000);
  EXPECT_EQ(values.counts[0], 100000U);
  EXPECT_EQ(values.extents[1], (std::vector<std::size_t>{480, 640}));
  EXPECT_EQ(values.counts[1], 480U * 640U);
  EXPECT_EQ(values.counts[2], 1U);
  EXPECT_EQ(values.counts[3], 13U);
  EXPECT_TRUE(values.extents[4].empty());
  ASSERT_EQ(values.launches.size(), 2U);
  EXPECT_EQ(values.launches[0].grid, (std::array<unsigned, 3>{13, 1, 1}));
  EXPECT_EQ(values.launches[0].block, (std::array<unsigned, 3>{512, 1, 1}));
  EXPECT_EQ(values.launches[0].arguments, (std::vector<std::int64_t>{0, 0, 0, 0, 13, 0}));
  EXPECT_EQ(values.launches[1].arguments, (std::vector<std::int64_t>{0, 0, 13, 0, 1}));
}

TEST(PlanValues, UsesTheOccupancyOfTheFirstLaunchOfAKernel)
{
  auto const formulas =
      plan_text::formulas({{"/launches/0/block", {32, "2 * 2"}}, {"/launches/0/shared", "n"}});
  std::vector<std::int64_t> const sizes{8192 * 1000, 1, 1};
  auto facts = gpu_facts();
  std::string call;
  facts.occupancy = [&](std::string const& kernel, unsigned threads, std::size_t shared_bytes) {
    call += kernel + " " + std::to_string(threads) + " " + std::to_string(shared_bytes) + ";";
    return 2;
  };
  EXPECT_EQ(compute_values(formulas, sizes, facts).launches[0].grid[0], 264U);
  EXPECT_EQ(call, "reduce_tiles 128 8192000;");
}

TEST(PlanValues, AsksForNoOccupancyThatThePlanDoesNotUse)
{
  auto const formulas = plan_text::formulas({{"/let/blocks", "7"}});
  std::vector<std::int64_t> const sizes{1, 1, 1};
  EXPECT_EQ(compute_values(formulas, sizes, {.element_bytes = 4}).launches[0].grid[0], 7U);
}

TEST(PlanValues, MakesNoLaunchOfZeroBlocks)
{
  auto const values = values_for(plan_text::formulas(), 0);
  EXPECT_FALSE(values.launches[0].is_made());
  EXPECT_TRUE(values.launches[1].is_made());
}

TEST(PlanValues, AreComputedAgainInTheSameMemory)
{
  auto const formulas = plan_text::formulas();
  detail::plan_values values;
  std::vector<std::int64_t> sizes{100000, 480, 640};
  compute_values(formulas, sizes, gpu_facts(), values);
  auto const* const memory = values.values.data();
  sizes[0] = 8192;
  compute_values(formulas, sizes, gpu_facts(), values);
  EXPECT_EQ(values.launches[0].grid[0], 1U);
  EXPECT_EQ(values.values.data(), memory);
}

TEST(PlanValues, KnowTheSizeOfAnElement)
{
  auto const formulas = plan_text::formulas(
      {{"/launches/0/shared", "sizeof(in) + sizeof(win) + sizeof(int8) + sizeof(window)"}});
  EXPECT_EQ(values_for(formulas, 1).launches[0].shared_bytes, 4U + 8U + 1U + 8U);
  std::vector<std::int64_t> const sizes{1, 1, 1};
  auto facts = gpu_facts();
  facts.element_bytes = 0;
  expect_error<usage_error>([&] { compute_values(formulas, sizes, facts); },
                            "plan reduce needs the size of an element");
}

TEST(PlanValues, KnowTheSizeOfTheElementThatATransformBinds)
{
  auto plan = plan_text::example();
  plan["launches"][0]["shared"] = "16 * sizeof(element)";
  plan_formulas const formulas(
      detail::bind_types(detail::read_plan(plan, "reduce.json", {}),
                         {{"combine", scalar_type(scalar_kind::float64)}}));
  auto facts = gpu_facts();
  facts.element_bytes = 0;
  std::vector<std::int64_t> const sizes{1, 1, 1};
  EXPECT_EQ(compute_values(formulas, sizes, facts).launches[0].shared_bytes, 128U);
}

TEST(PlanValues, TakeTheTypeOfAnArgumentBeforeThatOfItsHook)
{
  auto plan = plan_text::example();
  for (auto& argument : plan["arguments"])
    if (argument.value("type", "") == "element") argument["hook"] = "f";
  auto const bind = [&](detail::hook_elements const& elements) {
    return detail::bind_types(detail::read_plan(plan, "reduce.json", {}), elements);
  };
  auto const half = scalar_type(scalar_kind::float16);
  auto const whole = scalar_type(scalar_kind::int32);
  auto const both = bind({{"f", half}, {"f_out", whole}, {"f_o", half}});
  EXPECT_EQ(both.find("in")->type, half);
  EXPECT_EQ(both.find("out")->type, whole);
  auto const one = bind({{"f_out", whole}});
  EXPECT_FALSE(one.find("in")->type);
  EXPECT_EQ(one.find("out")->type, whole);
}

TEST(PlanValues, TakeTheFieldsOfAStructFromItsHook)
{
  auto plan = plan_text::example();
  for (auto& argument : plan["arguments"])
    if (argument.value("type", "") == "element") argument["hook"] = "f";
  auto const pair = record_type({}, {"a", "b"}, std::vector(2, scalar_type(scalar_kind::float32)));
  auto const bound =
      detail::bind_types(detail::read_plan(plan, "reduce.json", {}),
                         {{"f", pair}, {"f_in", bytes_type(8)}, {"f_out", bytes_type(4)}});
  EXPECT_EQ(bound.find("in")->type, pair);
  EXPECT_EQ(bound.find("out")->type, bytes_type(4));
}

TEST(PlanValues, RefuseTheSizeOfAnElementOfSeveralHooks)
{
  auto plan = plan_text::example();
  plan["launches"][0]["shared"] = "16 * sizeof(element)";
  for (auto& argument : plan["arguments"])
    if (argument.value("type", "") == "element")
      argument["hook"] = argument["name"] == "in" ? "load" : "combine";
  expect_error<file_error>([&] { detail::read_plan(plan, "reduce.json", {}); },
                           "launches[0].shared: \"16 * sizeof(element)\": sizeof(element) has no "
                           "meaning where several hooks bind types");
  plan["launches"][0]["shared"] = "16 * sizeof(in)";
  EXPECT_NO_THROW(detail::read_plan(plan, "reduce.json", {}));
}

TEST(PlanValues, ComputeTheDepth)
{
  auto const formulas = plan_text::formulas();
  EXPECT_EQ(compute_depth(formulas, 0, values_for(formulas, 100000)), 16U + 16U);
  auto plan = plan_text::example();
  plan.erase("depth");
  plan_formulas const without(detail::read_plan(plan, "reduce.json", {}));
  EXPECT_EQ(compute_depth(without, 0, values_for(without, 100000)), 0U);
}

TEST(PlanValues, RefuseOverflowsAndDivisionsByZero)
{
  expect_change_refused(
      "/let/blocks", "n * 9223372036854775807",
      "reduce.json: let.blocks: \"n * 9223372036854775807\": 100 * 9223372036854775807 "
      "overflows 64 bits (at character 3), with n = 100, height = 480, width = 640");
  expect_change_refused("/launches/0/shared", "7 / (n - 100)",
                        "launches[0].shared: \"7 / (n - 100)\": division by zero: 7 / 0");
  expect_change_refused(
      "/arguments/1/shape", {"n", "n * 46116860184273879"},
      "arguments[1].shape[1]: \"n * 46116860184273879\": the array has more than");
}

TEST(PlanValues, RefuseValuesOutOfRange)
{
  expect_change_refused(
      "/launches/0/grid", {"1", "n * 1000"},
      "launches[0].grid[1]: \"n * 1000\": a grid has 0 to 65535 blocks in y, not 100000, "
      "with n = 100");
  expect_change_refused(
      "/launches/0/grid", "n * 100000000",
      "launches[0].grid: \"n * 100000000\": a grid has 0 to 2147483647 blocks in x");
  expect_change_refused("/launches/0/grid", "n - 101", "launches[0].grid: \"n - 101\": a grid has");
  expect_change_refused("/launches/0/grid", {1, 1, "n * 1000"},
                        "launches[0].grid[2]: \"n * 1000\"");
  expect_change_refused(
      "/launches/0/block", "n * 100",
      "launches[0].block: \"n * 100\": a block has 1 to 1024 threads in x, not 10000");
  expect_change_refused("/launches/0/block", "n - 100",
                        "launches[0].block: \"n - 100\": a block has 1");
  expect_change_refused("/launches/0/block", {1, 1, "n"},
                        "launches[0].block[2]: \"n\": a block has 1 to 64 threads in z, not 100");
  expect_change_refused(
      "/launches/0/block", {"n", "n"},
      "launches[0].block: a block has at most 1024 threads, not 100 x 100 x 1 = 10000, "
      "with n = 100");
  expect_change_refused("/launches/0/shared", "n - 101",
                        "launches[0].shared: \"n - 101\": a block has 0 to 2147483647 bytes");
  expect_change_refused("/arguments/0/count", "n - 101",
                        "arguments[0].count: \"n - 101\": an array cannot have -1 elements");
  expect_change_refused("/launches/0/arguments/4", {{"value", "n * 10"}, {"type", "int8"}},
                        "launches[0].arguments[4]: \"n * 10\": 1000 is out of the range of int8");
  expect_change_refused("/let/blocks", "n - 101",
                        "arguments[3].count: \"blocks\": an array cannot have");
}

TEST(PlanValues, RefuseASizeAboveItsMaximum)
{
  auto const formulas = plan_text::formulas({{"/arguments/4/maximum", "min(height, 400)"}});
  EXPECT_EQ(values_for(formulas, 400).counts[0], 400U);
  expect_error<usage_error>([&] { values_for(formulas, 401); },
                            "n is 401, and the plan reduce allows at most 400 (min(height, 400))");
  std::vector<std::int64_t> const sizes{401, 480, 640};
  expect_error<usage_error>([&] { compute_without_device(formulas, sizes); }, "n is 401");
  auto const constant = plan_text::formulas({{"/arguments/4/maximum", 7}});
  expect_error<usage_error>([&] { values_for(constant, 8); }, "allows at most 7");
}

TEST(PlanValues, RefuseAMaximumThatIsNoFormulaOfSizes)
{
  auto const says = "uses a value that is no size";
  expect_error<file_error>(
      [&] {
        plan_text::formulas({{"/arguments/4/maximum", "blocks"}});
      },
      says);
  expect_error<file_error>(
      [&] {
        plan_text::formulas({{"/arguments/4/maximum", "multiprocessors"}});
      },
      says);
  expect_error<file_error>(
      [&] {
        plan_text::formulas({{"/arguments/0/maximum", 7}});
      },
      "\"maximum\" has no meaning for an argument of the role input");
}

TEST(PlanValues, RefuseAKernelThatTheDeviceCannotRun)
{
  auto const formulas = plan_text::formulas();
  std::vector<std::int64_t> const sizes{100, 1, 1};
  auto facts = gpu_facts();
  facts.occupancy = [](std::string const&, unsigned, std::size_t) { return 0; };
  expect_error<device_error>([&] { compute_values(formulas, sizes, facts); },
                             "reduce.json: launches[0]: a multiprocessor of this device cannot run "
                             "a block of reduce_tiles with 512 threads");
}

TEST(PlanValues, UsesTheSharedMemoryOfTheDevice)
{
  auto const formulas = plan_text::formulas({{"/launches/0/shared", "min(n, shared_memory)"}});
  EXPECT_EQ(values_for(formulas, 100).launches[0].shared_bytes, 100U);
  EXPECT_EQ(values_for(formulas, 1'000'000).launches[0].shared_bytes, 232448U);
}

TEST(PlanValues, OfArraysThatDependOnTheDeviceAreNotComputedWithoutIt)
{
  // A grid that no device has does not matter.
  auto const formulas = plan_text::formulas(
      {{"/arguments/0/count", "blocks"}, {"/launches/0/grid", "1 / (multiprocessors - 1)"}});
  auto const values = compute_without_device(formulas, std::vector<std::int64_t>{100000, 480, 640});
  EXPECT_TRUE(values.extents[0].empty()) << "blocks needs the occupancy";
  auto const of_memory = plan_text::formulas({{"/arguments/0/count", "shared_memory"}});
  EXPECT_TRUE(
      compute_without_device(of_memory, std::vector<std::int64_t>{1, 480, 640}).extents[0].empty());
  EXPECT_EQ(values.extents[1], (std::vector<std::size_t>{480, 640}));
}
