// SPDX-License-Identifier: Apache-2.0
// Launch plans whose formulas, constants and lengths are refused when they are read.
#include "expect_plan_refusal.hpp"

using namespace fatlink;
using nlohmann::json;
using plan_text::expect_refusal;
using plan_text::read_changed;

TEST(PlanReader, RefusesCyclesAndNamesThem)
{
  expect_refusal("/let", {{"blocks", "b"}, {"b", "c + 1"}, {"c", "2 * b"}},
                 "let.b: b needs itself: b → c → b");
  expect_refusal("/let", {{"blocks", "blocks"}},
                 "let.blocks: blocks needs itself: blocks → blocks");
  auto const cycle = [](json& plan) { plan["launches"][0]["block"] = "blocks"; };
  expect_error<file_error>(
      [&] { read_changed(cycle); },
      "let.blocks: blocks needs itself: blocks → occupancy(reduce_tiles) → blocks");
  expect_refusal("/launches/0/shared", "occupancy(reduce_tiles)",
                 "launches[0].block: occupancy(reduce_tiles) needs itself");
}

TEST(PlanReader, RefusesOverflowsAndDivisionsByZero)
{
  expect_refusal("/let/blocks", "9223372036854775807 + 1",
                 "let.blocks: \"9223372036854775807 + 1\": 9223372036854775807 + 1 overflows");
  expect_refusal("/launches/0/shared", "1 / 0", "launches[0].shared: \"1 / 0\": division by zero");
  expect_refusal("/let/blocks", "n +", "let.blocks: \"n +\": expected a number");
}

TEST(PlanReader, RefusesConstantsOutOfRange)
{
  expect_refusal("/launches/0/grid", -1,
                 "launches[0].grid: \"-1\": a grid has 0 to 2147483647 blocks in x, not -1");
  expect_refusal("/launches/0/grid", {1, 65536},
                 "launches[0].grid[1]: \"65536\": a grid has 0 to 65535 blocks in y, not 65536");
  expect_refusal("/launches/0/block", 1025,
                 "launches[0].block: \"1025\": a block has 1 to 1024 threads in x, not 1025");
  expect_refusal("/launches/0/block", 0, "launches[0].block: \"0\": a block has 1 to 1024");
  expect_refusal("/launches/0/block", {1, 1, 65},
                 "launches[0].block[2]: \"65\": a block has 1 to 64 threads in z, not 65");
  expect_refusal("/launches/0/block", {32, 64},
                 "launches[0].block: a block has at most 1024 threads, not 32 x 64 x 1 = 2048");
  expect_refusal("/launches/0/shared", -4,
                 "launches[0].shared: \"-4\": a block has 0 to 2147483647 bytes");
  expect_refusal("/arguments/0/count", -4, "arguments[0].count: \"-4\": an array cannot have -4");
  expect_refusal("/launches/0/arguments/4", {{"value", 256}, {"type", "uint8"}},
                 "launches[0].arguments[4]: \"256\": 256 is out of the range of uint8");
}

TEST(PlanReader, RefusesConstantsOutOfRangeThroughLets)
{
  auto const refuse = [](json const& lets, char const* key, json const& value, char const* says) {
    expect_error<file_error>(
        [&] {
          read_changed([&](json& plan) {
            plan["let"].update(lets);
            plan["launches"][0][key] = value;
          });
        },
        says);
  };
  refuse({{"a", "0"}}, "grid", "1 / a", "launches[0].grid: \"1 / a\": division by zero");
  refuse({{"a", "2 * b"}, {"b", "2048"}}, "block", "a",
         "launches[0].block: \"a\": a block has 1 to 1024 threads in x, not 4096");
  refuse({{"a", "64"}}, "block", {"a", "a"},
         "launches[0].block: a block has at most 1024 threads, not 64 x 64 x 1 = 4096");
  refuse({{"a", "0"}, {"b", "1 / a"}}, "shared", "0", "let.b: \"1 / a\": division by zero");
}

TEST(PlanReader, RefusesAlignmentsThatAreNone)
{
  for (json const& value : {json(0), json(24), json(8192), json(-4), json(1.5), json("16")})
    expect_refusal("/arguments/0/alignment", value,
                   "arguments[0].alignment: ", "write a power of two from 1 to 4096, in bytes");
  expect_refusal("/arguments/0/alignment", 24, "arguments[0].alignment: 24 is not an alignment");
  expect_refusal("/arguments/4/alignment", 16, "arguments[4]: \"alignment\" has no meaning");
}

TEST(PlanReader, RefusesLengthsThatNoOutputHolds)
{
  auto const refuse = [](char const* length, std::string const& says, char const* hint) {
    expect_refusal("/arguments/2/length", length, "arguments[2].length: " + says, hint);
  };
  refuse("n", R"("n": uses no other output of one integer)", R"(state it as "count")");
  refuse("out", R"("out": unknown name out)", "n");
  refuse("m", R"("m": unknown name m)", "n");
  refuse("n -", R"("n -": )", "");
  expect_refusal("/arguments/0/length", "n", "arguments[0]: \"length\" has no meaning");
}

TEST(PlanReader, RefusesLengthsOfArraysWithAShape)
{
  expect_refusal("/arguments/2", json::parse(R"({"name": "out", "role": "output", "type": "element",
                                 "shape": ["height", "width"], "length": "n"})"),
                 "arguments[2].length: has no meaning for an array with a \"shape\"",
                 "\"count\" instead");
}

TEST(PlanReader, RefusesDefaultsOfAnotherType)
{
  expect_refusal("/arguments/4/default", 1.5, "arguments[4].default: 1.5 is not a value of uint64");
  expect_refusal("/arguments/4/default", -1, "arguments[4].default: -1 is not a value of uint64");
  expect_refusal("/arguments/5/default", "zero", "arguments[5].default: \"zero\" is not a number",
                 "\"-inf\"");
  expect_refusal("/arguments/6/default", {{"low", 1}},
                 "arguments[6].default: \"count\" is missing");
  expect_refusal("/arguments/6/default", {{"low", 1}, {"count", 0.5}},
                 "arguments[6].default.count: 0.5 is not a value of int32");
}
