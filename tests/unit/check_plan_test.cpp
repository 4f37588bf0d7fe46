// SPDX-License-Identifier: Apache-2.0
#include "plan/check_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fixtures.hpp"
#include "plan/read_plan.hpp"

using namespace fatlink;
using nlohmann::json;
using testing::HasSubstr;

namespace {

/// A plan of one launch of `kernel` with `arguments`.
launch_plan plan_with_arguments(json const& arguments, char const* kernel = "apply_transform")
{
  json plan{{"name", "p"},
            {"summary", "s"},
            {"arguments",
             {{{"name", "in"}, {"role", "input"}, {"type", "float32"}, {"count", "n"}},
              {{"name", "out"}, {"role", "output"}, {"type", "float32"}, {"count", "n"}},
              {{"name", "n"}, {"role", "size"}},
              {{"name", "m"}, {"role", "size"}, {"type", "uint32"}},
              {{"name", "state"}, {"role", "state"}},
              {{"name", "init"}, {"role", "value"}, {"type", "element"}},
              {{"name", "pair"}, {"role", "value"}, {"type", "bytes8"}}}},
            {"let", {{"blocks", "ceil(n / 256)"}}},
            {"launches",
             {{{"kernel", kernel}, {"grid", "blocks"}, {"block", 256}, {"arguments", arguments}}}}};
  auto& stated = plan["arguments"];  // arrays that no launch takes are refused
  std::erase_if(*stated.get_ptr<json::array_t*>(), [&](json const& argument) {
    return argument.contains("count") &&
           std::ranges::find(arguments, argument["name"]) == arguments.end();
  });
  return detail::read_plan(plan, "p.json", {});
}

std::vector<finding> check(launch_plan const& plan, char const* file = "library.fatbin",
                           detail::plan_check const& request = {})
{
  std::vector const modules{fixtures::fatbin(file)};
  return detail::check_plan(plan, modules, request);
}

}  // namespace

TEST(PlanCheck, AcceptsArgumentsOfTheRightNumberAndSize)
{
  EXPECT_TRUE(check(plan_with_arguments({"in", "out", "n"})).empty());
  EXPECT_TRUE(check(plan_with_arguments({"in", "state", "blocks"})).empty());
  EXPECT_TRUE(
      check(plan_with_arguments({"in", "pair", {{"value", "n"}, {"type", "int64"}}})).empty());
}

TEST(PlanCheck, ReportsAnotherNumberOfArgumentsWithBothSignatures)
{
  auto const findings = check(plan_with_arguments({"in", "out"}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, finding_id::plan_mismatch);
  EXPECT_EQ(findings[0].severity, severity::error);
  EXPECT_EQ(findings[0].symbol, "apply_transform");
  EXPECT_EQ(findings[0].files, (std::vector<std::string>{"library.fatbin", "p.json"}));
  EXPECT_EQ(findings[0].message,
            "p.json: launches[0] passes apply_transform(in: pointer, out: pointer), but "
            "library.fatbin has apply_transform(u64, u64, u64): 2 arguments for 3 parameters");
  EXPECT_FALSE(findings[0].hint.empty());
}

TEST(PlanCheck, ReportsAnArgumentOfAnotherSize)
{
  auto const findings = check(plan_with_arguments({"in", "out", "m"}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "p.json: launches[0] passes apply_transform(in: pointer, out: pointer, m: uint32), but "
            "library.fatbin has apply_transform(u64, u64, u64): argument 2 has 4 bytes, the "
            "parameter 8");
  EXPECT_EQ(check(plan_with_arguments({"in", "out", {{"value", "n"}, {"type", "uint8"}}})).size(),
            1U);
}

TEST(PlanCheck, ComparesAnElementOnlyIfItsTypeIsKnown)
{
  auto const plan = plan_with_arguments({"in", "out", "init"});
  EXPECT_TRUE(check(plan).empty());
  EXPECT_TRUE(
      check(plan, "library.fatbin", {.element = scalar_type(scalar_kind::float64)}).empty());
  auto const findings =
      check(plan, "library.fatbin", {.element = scalar_type(scalar_kind::float32)});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("init: element"));
}

TEST(PlanCheck, ReportsAKernelThatDoesNotExist)
{
  auto const findings = check(plan_with_arguments({"in", "out", "n"}, "apply_transfrom"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "p.json: launches[0].kernel: library.fatbin has no kernel apply_transfrom, for "
            "apply_transfrom(in: pointer, out: pointer, n: uint64)");
  EXPECT_THAT(findings[0].hint, HasSubstr("did you mean apply_transform?"));
  EXPECT_THAT(check(plan_with_arguments({"in"}, "k"), "transform.fatbin").at(0).hint,
              HasSubstr("it has no kernels"));
}

TEST(PlanCheck, ComparesWithTheSassOfALink)
{
  detail::plan_check const sass{.choice =
                                    entry_choice{.target = target(90), .mode = link_mode::sass}};
  EXPECT_TRUE(check(plan_with_arguments({"in", "out", "n"}), "library_sass.fatbin", sass).empty());
  auto const findings = check(plan_with_arguments({"in", "out", "m"}), "library_sass.fatbin", sass);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("apply_transform(b8[8], b8[8], b8[8])"));
}

TEST(PlanCheck, DoesNotJudgeLtoirWithoutPtx)
{
  EXPECT_TRUE(check(plan_with_arguments({"in"}), "library_ltoir.fatbin").empty());
  EXPECT_TRUE(check(plan_with_arguments({"in"}, "other"), "library_ltoir.fatbin",
                    {.choice = entry_choice{.target = target(90), .mode = link_mode::lto}})
                  .empty());
}
