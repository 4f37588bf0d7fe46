// SPDX-License-Identifier: Apache-2.0
// How many elements of an output are results.
#include "plan/plan_formulas.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "changed_plan.hpp"

using namespace fatlink;
using nlohmann::json;

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
