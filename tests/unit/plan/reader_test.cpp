// SPDX-License-Identifier: Apache-2.0
// Reading launch plans.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "changed_plan.hpp"
#include "expect_error.hpp"
#include "verification/plan_reference.hpp"

using namespace fatlink;
using nlohmann::json;
using plan_text::computed;
using plan_text::read_changed;

TEST(PlanReader, ReadsEveryPartOfThePlan)
{
  auto const plan = read_changed([](json&) {});
  EXPECT_EQ(plan.name, "reduce");
  EXPECT_EQ(plan.contract, "reduce/1");
  ASSERT_EQ(plan.arguments.size(), 10U);
  EXPECT_EQ(plan.arguments[0].role, argument_role::input);
  EXPECT_FALSE(plan.arguments[0].type);
  EXPECT_EQ(plan.arguments[1].shape, (std::vector<std::string>{"height", "width"}));
  EXPECT_EQ(plan.find("n")->type, scalar_type(scalar_kind::uint64));
  EXPECT_EQ(plan.find("init")->default_value, "0");
  EXPECT_EQ(plan.find("win")->type->size, 8U);
  EXPECT_EQ(to_string(*plan.find("win")->type), "window");
  EXPECT_EQ(plan.launches.at(0).block[0], "512");
  EXPECT_EQ(plan.launches.at(0).arguments.at(0).argument, "in");
  EXPECT_EQ(plan.launches.at(0).arguments.at(4).type, scalar_type(scalar_kind::uint32));
  EXPECT_EQ(to_string(plan.results.at(0).value), "fold(combine, in, init)");
  EXPECT_EQ(plan.results.at(0).depth, "ceil(n / (blocks * 512)) + 16");
}

TEST(PlanReader, GivesAnOutputOneElementByDefault)
{
  EXPECT_EQ(
      read_changed([](json& plan) { plan["arguments"][2].erase("count"); }).arguments[2].shape,
      std::vector<std::string>{"1"});
}

TEST(PlanReader, PassesALetAs64Bits)
{
  auto const plan =
      read_changed([](json& changed) { changed["launches"][0]["arguments"][4] = "blocks"; });
  EXPECT_EQ(plan.launches[0].arguments[4].formula, "blocks");
  EXPECT_EQ(plan.launches[0].arguments[4].type, scalar_type(scalar_kind::uint64));
}

TEST(PlanReader, SortsLetsByWhatTheyUse)
{
  auto const plan = read_changed([](json& changed) {
    changed["let"] = {{"a", "b + 1"}, {"b", "c + 1"}, {"blocks", "a"}, {"c", "n"}};
  });
  std::vector<std::string> names;
  for (auto const& let : plan.lets) names.push_back(let.name);
  EXPECT_EQ(names, (std::vector<std::string>{"c", "b", "a", "blocks"}));
}

TEST(PlanReader, ExpandsComputations)
{
  EXPECT_EQ(computed("map(f, in, init, index)"), "map(f, in, init, index)");
  EXPECT_EQ(computed("map(f, map(g, in, index, width), n)"), "map(f, map(g, in, index, width), n)");
  EXPECT_EQ(computed("map(f, window(in, -1, 1))"),
            "map(f, neighbor(in, -1), neighbor(in, 0), neighbor(in, 1))");
  EXPECT_EQ(computed("fold(f, map(g, map(h, in), index), init)"),
            "fold(f, map(g, map(h, in), index), init)");
  EXPECT_EQ(computed("segmented_fold(f, in, image, init)"), "segmented_fold(f, in, image, init)");
  for (auto const* text :
       {"scan(f, in)", "exclusive_scan(f, in, init)", "filter(f, in)", "rejected(f, in)",
        "count(f, in)", "sort(f, in)", "sort(f, in, in)", "histogram(f, in, n)", "map(f)"})
    EXPECT_EQ(computed(text), text);
}

TEST(PlanReader, ReadsComputationsOfRunsOrdersAndParts)
{
  for (auto const* text : {"unique(f, in)",
                           "unique(f, in, image)",
                           "unique_count(f, in)",
                           "run_lengths(f, in)",
                           "run_lengths(f, map(g, in, index))",
                           "fold_runs(f, in, unique(g, image))",
                           "fold_runs(f, map(g, in), unique(h, map(k, image, n)))",
                           "scan_runs(f, in, unique(g, in))",
                           "sort_by(f, in)",
                           "sort_by(f, in, image)",
                           "sort_by(f, in, index)",
                           "sort_by(f, map(g, in), index)",
                           "sort_by(f, in, low_bits(n))",
                           "sort_by(f, in, image, low_bits(n))",
                           "sort_by(f, in, index, low_bits(n))",
                           "segmented_sort(f, in, image)",
                           "segmented_sort(f, in, image, in)",
                           "merge(f, in, image)",
                           "merge(f, map(g, in), in)",
                           "lower_bound(f, in, image)",
                           "upper_bound(f, in, in)",
                           "filter_equal(f, in, 0)",
                           "filter_equal(f, map(g, in), 2147483647)",
                           "filter_above(f, in, 1)",
                           "count_equal(f, in, -1)"})
    EXPECT_EQ(computed(text), text);
  EXPECT_EQ(computed("count_equal( f ,in , - 1 )"), "count_equal(f, in, -1)");
}

TEST(PlanReader, ReadsTheOperandsOfRunsOrdersAndParts)
{
  auto const read = [](char const* text) {
    return read_changed([&](json& plan) { plan["computes"]["out"] = text; }).results.at(0).value;
  };
  auto const folded = read("fold_runs(f, in, unique(g, image))");
  EXPECT_EQ(folded.kind, operation::fold_runs);
  EXPECT_EQ(folded.name, "f");
  ASSERT_EQ(folded.operands.size(), 2U);
  EXPECT_EQ(folded.operands[1].kind, operation::unique);
  EXPECT_EQ(folded.operands[1].name, "g");
  EXPECT_EQ(folded.operands[1].operands.at(0).name, "image");
  EXPECT_EQ(read("sort_by(f, in, index)").operands.at(1).kind, operation::index);
  auto const bits = read("sort_by(f, in, low_bits(n))").operands.at(1);
  EXPECT_EQ(bits.kind, operation::low_bits);
  EXPECT_EQ(bits.operands.at(0).name, "n");
  EXPECT_EQ(read("filter_above(f, in, 7)").offset, 7);
  EXPECT_EQ(read("count_equal(f, in, -7)").offset, -7);
}

TEST(PlanReader, ReadsWhichLaunchesOverlapTheOneBefore)
{
  auto const plan = read_changed([](json& changed) {
    changed["launches"][0]["overlap"] = false;
    changed["launches"][1]["overlap"] = true;
  });
  EXPECT_FALSE(plan.launches[0].overlap);
  EXPECT_TRUE(plan.launches[1].overlap);
  EXPECT_FALSE(read_changed([](json&) {}).launches[1].overlap);
}

TEST(PlanReader, ReadsTheAlignmentOfArraysAndStates)
{
  auto const plan = read_changed([](json& changed) {
    changed["arguments"][0]["alignment"] = 16;
    changed["arguments"][7]["alignment"] = 4096;
  });
  EXPECT_EQ(plan.find("in")->alignment, 16U);
  EXPECT_EQ(plan.find("state")->alignment, 4096U);
  EXPECT_EQ(plan.find("out")->alignment, 0U);
}

TEST(PlanReader, ReadsDefaultsOfEveryKind)
{
  auto const text_of = [](char const* type, json const& value) {
    return read_changed([&](json& plan) {
             plan["arguments"][5]["type"] = type;
             plan["arguments"][5]["default"] = value;
           })
        .find("init")
        ->default_value;
  };
  EXPECT_EQ(text_of("float32", "-inf"), "\"-inf\"");
  EXPECT_EQ(text_of("complex64", {1, 0}), "[1,0]");
  EXPECT_EQ(text_of("complex128", 1), "1");
  EXPECT_EQ(text_of("uint64", 18446744073709551615U), "18446744073709551615");
  EXPECT_EQ(text_of("window", {{"low", 0.5}, {"count", 2}}), R"({"count":2,"low":0.5})");
  EXPECT_EQ(text_of("element", {{"value", 0.5}}), R"({"value":0.5})");
}

TEST(PlanReader, ReadsASourceWithoutDigest)
{
  fixtures::folder const folder;
  auto plan = plan_text::example();
  EXPECT_EQ(launch_plan::read_source(folder.write("a.json", plan.dump())).name, "reduce");
  plan["sha256"] = std::string(64, '0');
  auto const path = folder.write("a.json", plan.dump());
  expect_error<file_error>([&] { launch_plan::read_source(path); },
                           "a.json: sha256: is stated in a PLAN");
  EXPECT_EQ(launch_plan::read(path).name, "reduce");
  plan.erase("sha256");
  plan["hook"] = "combine";
  auto const with_hook = folder.write("a.json", plan.dump());
  expect_error<file_error>([&] { launch_plan::read_source(with_hook); },
                           "a.json: hook: describes a transform");
}

TEST(PlanReader, FindsThePlanBesideAFile)
{
  fixtures::folder const folder;
  EXPECT_FALSE(launch_plan::beside(folder.path() / "reduce.fatbin"));
  folder.write("reduce.json", plan_text::example().dump());
  EXPECT_EQ(launch_plan::beside(folder.path() / "reduce.fatbin")->name, "reduce");
  folder.write("reduce.json", R"({"name": "x", "summary": "y"})");
  EXPECT_FALSE(launch_plan::beside(folder.path() / "reduce.fatbin"));
  folder.write("reduce.json", R"({"name": "x", "summary": "y", "arguments": []})");
  expect_error<file_error>([&] { launch_plan::beside(folder.path() / "reduce.fatbin"); },
                           "\"launches\" is missing");
}

TEST(PlanReader, IsRecognizedAsASidecarWithoutReference)
{
  fixtures::folder const folder;
  folder.write("reduce.json", plan_text::example().dump());
  EXPECT_TRUE(launch_plan::beside(folder.path() / "reduce.cubin"));
  EXPECT_FALSE(transform_reference::beside(folder.path() / "reduce.fatbin"));
}
