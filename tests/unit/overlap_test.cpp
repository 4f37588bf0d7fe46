// SPDX-License-Identifier: Apache-2.0
// Which launches of a plan overlap the one before, by the entries that are linked.
#include "plan/plan_call_state.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fatlink/input.hpp"
#include "fixtures.hpp"
#include "plan/read_plan.hpp"
#include "preflight/symbols.hpp"

using namespace fatlink;
using nlohmann::json;

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
  detail::clear_unsafe_overlaps(bound, detail::modules_of(inputs),
                                {.target = target(90), .mode = mode});
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
