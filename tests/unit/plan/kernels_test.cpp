// SPDX-License-Identifier: Apache-2.0
// Launch plans against the kernels that they launch: parameters, and launches that overlap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"
#include "plan/check_plan.hpp"
#include "plan/plan_call_state.hpp"
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

// Which launches of a plan overlap the one before, by the entries that are linked.

namespace {

/// A module with the kernel `name` for `architecture`: "sm_90".
input module_for(std::string const& architecture, std::string const& name = "k")
{
  fixtures::folder const folder;
  return input::read(folder.write("module.ptx", ".version 8.0\n.target " + architecture +
                                                    "\n.address_size 64\n.visible .entry " + name +
                                                    "()\n{\nret;\n}\n"));
}

/// Whether the second launch of the kernel k still overlaps the first where `inputs` are linked.
bool is_kept(std::vector<input> const& inputs, link_mode mode = link_mode::ptx)
{
  json const launch{{"kernel", "k"}, {"grid", 1}, {"block", 1}, {"arguments", json::array()}};
  json plan{{"name", "p"}, {"summary", "s"}, {"arguments", json::array()}};
  plan["launches"] = {launch, launch};
  plan["launches"][1]["overlap"] = true;
  auto bound = detail::read_plan(plan, "p.json", {});
  std::vector<fatbin> modules;
  for (auto const& file : inputs)
    modules.insert(modules.end(), file.modules().begin(), file.modules().end());
  detail::clear_unsafe_overlaps(bound, modules, {.target = target(90), .mode = mode});
  EXPECT_FALSE(bound.launches[0].overlap);
  return bound.launches[1].overlap;
}

}  // namespace

TEST(Overlap, IsKeptForAKernelWhoseEntryIsForSm90)
{
  EXPECT_TRUE(is_kept({module_for("sm_90")}));
  EXPECT_TRUE(is_kept({module_for("sm_90"), module_for("sm_75", "other")}));
}

TEST(Overlap, IsClearedForAKernelWhoseEntryIsForOlderGpus)
{
  EXPECT_FALSE(is_kept({module_for("sm_75")}));
  EXPECT_FALSE(is_kept({module_for("sm_89"), module_for("sm_90", "other")}));
}

TEST(Overlap, IsClearedForAKernelThatNoModuleShows)
{
  EXPECT_FALSE(is_kept({module_for("sm_90", "other")}));
  EXPECT_FALSE(is_kept({}));
}

TEST(Overlap, IsThatOfLaunchesAfterOneThatIsMade)
{
  launch_plan const plan{.launches = {{}, {.overlap = true}, {}, {.overlap = true}}};
  auto const overlapping = [&](std::vector<unsigned> const& grids) {
    detail::plan_values values;
    for (auto const blocks : grids)
      values.launches.push_back({.grid = {blocks, 1, 1}, .block = {1, 1, 1}});
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < grids.size(); ++i)
      if (detail::overlaps(plan, values, i)) list.push_back(i);
    return list;
  };
  EXPECT_EQ(overlapping({1, 1, 1, 1}), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(overlapping({0, 1, 1, 1}), (std::vector<std::size_t>{3}));
  EXPECT_EQ(overlapping({0, 0, 0, 1}), (std::vector<std::size_t>{}));
}

TEST(Overlap, IsThatOfAllLaunchesThatStateItIfTheFirstOneDoes)
{
  launch_plan const plan{.launches = {{.overlap = true}, {}, {.overlap = true}}};
  detail::plan_values const values{.launches = {{.grid = {0, 1, 1}, .block = {1, 1, 1}},
                                                {.grid = {0, 1, 1}, .block = {1, 1, 1}},
                                                {.grid = {1, 1, 1}, .block = {1, 1, 1}}}};
  EXPECT_TRUE(detail::overlaps(plan, values, 0));
  EXPECT_FALSE(detail::overlaps(plan, values, 1));
  EXPECT_TRUE(detail::overlaps(plan, values, 2));
}

namespace {

std::string hint_of(error_code code, std::string const& message,
                    std::vector<std::string> const& null_states)
{
  try {
    detail::rethrow_with_states(
        device_error(stage::device, {.message = message, .code = code, .hint = "fix the code"}),
        null_states);
  } catch (device_error const& failure) {
    EXPECT_EQ(failure.details().message, message);
    return failure.details().hint;
  }
}

}  // namespace

TEST(NullStates, AreNamedWhereANullPointerIsUsed)
{
  EXPECT_EQ(hint_of(error_code::illegal_address, "reads 4 bytes at 0x0: a null pointer",
                    {"load_state", "store_state"}),
            "if the transform needs a state (load_state, store_state), pass the address of its "
            "bytes; otherwise fix the code");
}

TEST(NullStates, AreNotNamedForOtherFailures)
{
  EXPECT_EQ(hint_of(error_code::illegal_address, "reads 4 bytes at 0x0: a null pointer", {}),
            "fix the code");
  EXPECT_EQ(hint_of(error_code::illegal_address, "reads 4 bytes at 0x7f0000000000", {"state"}),
            "fix the code");
  EXPECT_EQ(hint_of(error_code::endless_kernel, "a null pointer", {"state"}), "fix the code");
}
