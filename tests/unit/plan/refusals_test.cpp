// SPDX-License-Identifier: Apache-2.0
// Launch plans that are refused when they are read.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "changed_plan.hpp"
#include "expect_error.hpp"

using namespace fatlink;
using nlohmann::json;
using plan_text::read_changed;

namespace {

/// Sets the value at a JSON pointer and expects the error "…/reduce.json: PATH: CAUSE", whose hint
/// has `hint`.
void expect_refusal(char const* pointer, nlohmann::json const& value, std::string const& says,
                    std::string const& hint = "")
{
  try {
    read_changed(
        [&](nlohmann::json& plan) { plan[nlohmann::json::json_pointer(pointer)] = value; });
    ADD_FAILURE() << pointer << ": no error; expected one that says: " << says;
  } catch (fatlink::file_error const& failed) {
    EXPECT_THAT(failed.what(), testing::HasSubstr("reduce.json: " + says));
    EXPECT_THAT(failed.details().hint, testing::HasSubstr(hint)) << failed.what();
    EXPECT_FALSE(failed.details().hint.empty()) << failed.what();
    EXPECT_EQ(failed.details().code, fatlink::error_code::invalid_plan) << failed.what();
    EXPECT_EQ(failed.where(), fatlink::stage::sidecar) << failed.what();
  }
}

/// As above, without the member `key` of the object at `pointer`.
void expect_missing(char const* pointer, char const* key, std::string const& says)
{
  auto object = plan_text::example()[nlohmann::json::json_pointer(pointer)];
  object.erase(key);
  expect_refusal(pointer, object, says);
}

}  // namespace

TEST(PlanReader, RefusesUnknownKeys)
{
  expect_refusal("/lets", json::object(), "unknown key \"lets\"", "did you mean \"let\"?");
  expect_refusal("/arguments/0/counts", "n", "arguments[0]: unknown key \"counts\"",
                 "did you mean \"count\"?");
  expect_refusal("/launches/0/grids", 1, "launches[0]: unknown key \"grids\"", "\"grid\"");
  expect_refusal("/types/window/0/size", 1, "types.window[0]: unknown key \"size\"");
  expect_refusal("/launches/0/arguments/4/text", 1, "launches[0].arguments[4]: unknown key");
  expect_refusal("/computes/in", "map(f, in)", "computes: unknown key \"in\"");
  expect_refusal("/depth/tmp", "1", "depth: unknown key \"tmp\"", "write out");
  expect_refusal("/arguments/0/may_overlap", json::array(),
                 "arguments[0]: \"may_overlap\" has no meaning for an argument of the role input");
  expect_refusal("/arguments/5/count", "1", "arguments[5]: \"count\" has no meaning");
}

TEST(PlanReader, RefusesKeysThatAreStatedTwice)
{
  fixtures::folder const folder;
  auto const refuse = [&](char const* key, char const* twice, char const* says) {
    auto text = plan_text::example().dump();
    text.insert(text.find(key), twice);
    auto const path = folder.write("reduce.json", text);
    for (auto* read : {&launch_plan::read, &launch_plan::read_source})
      expect_error<file_error>([&] { read(path); }, says);
  };
  refuse("\"name\":\"reduce\"", "\"name\":\"a\",", "reduce.json: name: is stated twice");
  refuse("\"kernel\"", "\"kernel\":\"a\",", "reduce.json: launches[0].kernel: is stated twice");
}

TEST(PlanReader, RefusesMissingKeys)
{
  for (auto const* key : {"name", "arguments", "launches"})
    expect_missing("", key, std::string("\"") + key + "\" is missing");
  for (auto const* key : {"name", "role", "type"})
    expect_missing("/arguments/0", key, std::string("arguments[0]: \"") + key + "\" is missing");
  expect_missing("/arguments/0", "count", "arguments[0]: \"count\" is missing");
  for (auto const* key : {"kernel", "grid", "block", "arguments"})
    expect_missing("/launches/0", key, std::string("launches[0]: \"") + key + "\" is missing");
  expect_missing("/launches/0/arguments/4", "type",
                 "launches[0].arguments[4]: \"type\" is missing");
}

TEST(PlanReader, RefusesUnknownTypes)
{
  expect_refusal("/arguments/0/type", "float", "arguments[0].type: unknown type \"float\"",
                 "did you mean \"float32\"?");
  expect_refusal("/types/window/1/type", "int", "types.window[1].type: unknown type \"int\"",
                 "did you mean \"int32\"?");
  expect_refusal("/arguments/0/type", "bytes0", "arguments[0].type: unknown type \"bytes0\"");
  expect_refusal("/arguments/6/type", "windw", "arguments[6].type: unknown type \"windw\"",
                 "did you mean \"window\"?");
  expect_refusal("/arguments/4/type", "float32", "arguments[4].type: unknown type of a size",
                 "uint64");
  expect_refusal("/arguments/0/role", "inputs", "arguments[0].role: unknown role \"inputs\"",
                 "did you mean \"input\"?");
  expect_refusal("/types/window/0/type", "bytes4",
                 "types.window: is not a struct: field 'low' is of type bytes4");
  expect_refusal("/types/window/1/name", "low",
                 "types.window: is not a struct: two fields are called 'low'");
  expect_refusal("/launches/0/arguments/4/type", "float32",
                 "launches[0].arguments[4].type: unknown integer type \"float32\"");
}

TEST(PlanReader, RefusesUnknownNames)
{
  expect_refusal("/launches/0/arguments/0", "im", "launches[0].arguments[0]: unknown argument",
                 "did you mean \"in\"?");
  expect_refusal("/launches/0/grid", "block", "launches[0].grid: \"block\": unknown name block",
                 "did you mean blocks?");
  expect_refusal("/arguments/0/count", "m", "arguments[0].count: \"m\": unknown name m");
  expect_refusal("/arguments/1/shape/1", "widht",
                 "arguments[1].shape[1]: \"widht\": unknown name widht", "did you mean width?");
  expect_refusal("/let/blocks", "occupancy(reduce_tile)",
                 "let.blocks: \"occupancy(reduce_tile)\": unknown name",
                 "did you mean occupancy(reduce_tiles)?");
  expect_refusal("/arguments/2/may_overlap", {"inn"},
                 "arguments[2].may_overlap[0]: unknown input or other output \"inn\"",
                 "did you mean \"in\"?");
  expect_refusal("/depth/out", "m", "depth.out: \"m\": unknown name m");
}

TEST(PlanReader, RefusesArraysThatNoLaunchTakes)
{
  auto const hint = "pass it in \"arguments\" of a launch, or remove it";
  expect_refusal("/launches/0/arguments/5", "n", "arguments[1]: no launch takes the input image",
                 hint);
  expect_refusal("/launches/1/arguments/1", "in", "arguments[2]: no launch takes the output out",
                 hint);
}

TEST(PlanReader, RefusesNamesThatMeanSomethingElse)
{
  expect_refusal("/arguments/0/name", "max", "arguments[0].name: \"max\" has a meaning of its own");
  expect_refusal("/arguments/0/name", "float32", "arguments[0].name: \"float32\" has a meaning");
  expect_refusal("/arguments/0/name", "2n", "arguments[0].name: \"2n\" is not a name");
  expect_refusal("/arguments/0/name", "window",
                 "arguments[0].name: \"window\" is also the name of a type");
  expect_refusal("/arguments/1/name", "in",
                 "arguments[1].name: \"in\" is the name of an earlier argument");
  expect_refusal("/let/in", "1", "let.in: \"in\" is also the name of an argument");
  expect_refusal("/let/index", "1", "let.index: \"index\" has a meaning of its own");
  expect_refusal("/launches/0/kernel", "a b", "launches[0].kernel: is not the name of a kernel");
}

TEST(PlanReader, RefusesOverlapsThatAreNotTrueOrFalse)
{
  expect_refusal("/launches/1/overlap", 1, "launches[1].overlap: is not true or false",
                 "write true");
}

TEST(PlanReader, RefusesOtherKindsOfJson)
{
  expect_refusal("/arguments", 1, "arguments: is of type number; expected an array");
  expect_refusal("/let", json::array(), "let: is of type array; expected an object");
  expect_refusal("/name", 1, "name: is of type number; expected a string");
  expect_refusal("/name", "", "name: is empty");
  expect_refusal("/arguments/0", "in", "arguments[0]: is of type string; expected an object");
  expect_refusal("/launches/0/grid", 1.5,
                 "launches[0].grid: is of type number; expected a formula");
  expect_refusal("/launches", json::array(), "launches: is empty");
  expect_refusal("/launches/0/block", json::array(), "launches[0].block: is empty");
  expect_refusal("/launches/0/block", {1, 1, 1, 1}, "launches[0].block: has 4 elements, above 3");
  expect_refusal("/contract", "reduce", "contract: \"reduce\" is not a contract", "\"reduce/1\"");
  expect_refusal("/arguments/1/shape", json::array(), "arguments[1].shape: has no extent");
  expect_refusal("/arguments/1/shape", {"n"}, "arguments[1].shape: has one extent", "\"count\"");
  expect_refusal("/arguments/1/count", "n", "arguments[1]: \"count\" and \"shape\" are both");
}

TEST(PlanReader, LimitsTheNumberOfParts)
{
  auto const many = [](std::size_t count) {
    auto lets = json::object({{"blocks", "1"}});
    while (lets.size() < count) lets["a" + std::to_string(lets.size())] = "1";
    return lets;
  };
  EXPECT_EQ(read_changed([&](json& plan) { plan["let"] = many(64); }).lets.size(), 64U);
  expect_refusal("/let", many(65), "let: has 65 members, above 64, the limit");
  expect_refusal("/arguments", json(65, json::object()), "arguments: has 65 elements, above 64");
  expect_refusal("/launches", json(65, json::object()), "launches: has 65 elements, above 64");
  expect_refusal("/let/blocks", std::string(4097, '1'), "let.blocks: \"11");
}

TEST(PlanReader, RefusesComputationsOfAnotherForm)
{
  auto const expect_message = [](char const* text, std::string const& says,
                                 std::string const& hint = "") {
    expect_refusal("/computes/out", text, "computes.out: \"" + std::string(text) + "\": " + says,
                   hint);
  };
  expect_message("fold(combine, im, init)", "im is no input", "did you mean in?");
  expect_message("fold(combine, in, image)", "image is no value", "write one of init, win");
  expect_message("fold(combine, partial, init)", "partial is no input", "write one of in, image");
  expect_message("fold(combine, in)", "expected ',' at character 17; found ')'");
  expect_message("folds(combine, in, init)", "folds is no operation", "did you mean fold?");
  expect_message("map(f, out)", "out is no input or value or size");
  expect_message("map(f, wimdow(in, 0, 1))", "wimdow is no operand", "did you mean window?");
  expect_message("map(f, window(in, 1, 0))", "a window from 1 to 0 is empty");
  expect_message("map(f, window(in, 0, 5000))", "more than 4096 operands");
  expect_message("map(f, neighbor(in, 4294967296))", "an offset of 4294967296, above 2^31 - 1");
  expect_message("map(f, in) + 1", "expected the end at character 12; found '+'");
  expect_message("in", "in is no operation");
  std::string deep = "in";
  for (int i = 0; i < 65; ++i) deep = "map(f, " + deep + ")";
  expect_refusal("/computes/out", deep, "computes.out: \"map(f, ");
}

TEST(PlanReader, RefusesComputationsOfRunsOrdersAndPartsOfAnotherForm)
{
  auto const refuse = [](std::string const& text, std::string const& says,
                         std::string const& hint = "") {
    expect_refusal("/computes/out", text, "computes.out: \"" + text + "\": " + says, hint);
  };
  for (auto const* name : {"fold_runs", "scan_runs", "segmented_sort", "merge", "lower_bound",
                           "upper_bound", "filter_equal", "filter_above", "count_equal"})
    refuse(std::string(name) + "(f, in)", "expected ','");
  for (auto const* name : {"merge", "lower_bound", "upper_bound", "segmented_sort"}) {
    auto const operation = std::string(name) + "(f, in, ";
    refuse(operation + "init)", "init is no input");
    refuse(operation + "other)", "other is no input", "write one of in, image");
    refuse(operation + "im)", "im is no input", "did you mean in?");
    refuse(operation + "index)", "index is no input");
    refuse(operation + "map(g, in))", "map is no input");
  }
  for (auto const* name : {"fold_runs", "scan_runs"}) {
    auto const operation = std::string(name) + "(f, in, ";
    refuse(operation + "image)", "image is no operand", "unique");
    refuse(operation + "map(g, in))", "map is no operand", "unique");
    refuse(operation + "unique_count(g, in))", "unique_count is no operand", "unique");
    refuse(operation + "unique(g))", "expected ','");
    refuse(operation + "unique(g, init))", "init is no input");
    refuse(operation + "unique(g, in, image))", "unique(…) has two arrays here",
           "leave out the second array");
    refuse(operation + "unique(g, in), image)", "expected ')'");
  }
  for (auto const* name : {"filter_equal", "filter_above", "count_equal"}) {
    auto const operation = std::string(name) + "(f, in, ";
    refuse(operation + "n)", "expected a whole number");
    refuse(operation + "1.5)", "'1.5' at character ");
    refuse(operation + "4294967296)", "");
    refuse(operation + "0, 1)", "expected ')'");
  }
  for (auto const* name : {"sort", "unique"}) {
    refuse(std::string(name) + "(f, in, index)", "index is no input");
    refuse(std::string(name) + "(f, in, image, in)", "expected ')'");
  }
  refuse("sort_by(f, in, init)", "init is no input");
  refuse("sort_by(f, in, index, in)", "in is no operand", "write low_bits");
  refuse("sort_by(f, in, low_bits(in))", "in is no size");
  refuse("sort_by(f, in, low_bits(n), index)", "expected ')'");
  refuse("segmented_sort(f, in, image, init)", "init is no input");
  refuse("segmented_sort(f, in, image, in, in)", "expected ')'");
  for (auto const* name : {"unique_count", "run_lengths"})
    refuse(std::string(name) + "(f, in, image)", "expected ')'");
}

TEST(PlanReader, NestsNoOperationsOfRunsOrdersAndParts)
{
  auto const refuse = [](std::string const& text, std::string const& says) {
    expect_refusal("/computes/out", text, "computes.out: \"" + text + "\": " + says);
  };
  for (auto const* inner : {"unique(g, in)", "run_lengths(g, in)", "merge(g, in, in)",
                            "filter_equal(g, in, 0)", "segmented_sort(g, in, image)"}) {
    std::string const text = inner;
    auto const name = text.substr(0, text.find('('));
    refuse("map(f, " + text + ")", name + " is no operand");
    refuse("sort(f, " + text + ")", name + " is no input");
    refuse("merge(f, in, " + text + ")", name + " is no input");
  }
}

TEST(PlanReader, SuggestsOperationsOfRunsOrdersAndParts)
{
  auto const refuse = [](std::string const& text, std::string const& hint) {
    expect_refusal("/computes/out", text, "computes.out: \"" + text + "\": ", hint);
  };
  refuse("run_length(f, in)", "did you mean run_lengths?");
  refuse("lower_bounds(f, in, image)", "did you mean lower_bound?");
  refuse("segment_sort(f, in, image)", "did you mean segmented_sort?");
}

// Launch plans whose formulas, constants and lengths are refused when they are read.

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

TEST(PlanReader, RefusesALimitThatIsNoInputThatMayBeOmitted)
{
  expect_refusal("/arguments/4/limit", "in",
                 "arguments[4].limit: unknown input of one uint64 with the default null \"in\"");
  expect_refusal("/arguments/0/limit", "n",
                 "arguments[0]: \"limit\" has no meaning for an argument of the role input");
  expect_refusal("/arguments/0/default", 0, "arguments[0].default: the default of an input is null",
                 "write null");
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
