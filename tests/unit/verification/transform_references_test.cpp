// SPDX-License-Identifier: Apache-2.0
// References that transforms state: hooks, states, error models, and what is refused.
#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "expect_error.hpp"
#include "fixtures.hpp"
#include "verification/plan_reference.hpp"

using namespace fatlink;

namespace {

nlohmann::json const k_good = nlohmann::json::parse(R"json({
  "name": "scaled_load", "summary": "scale * x",
  "hooks": {"load": {"parameters": ["x", "index"], "result": "state.scale * x + index",
                     "type": "float32", "tolerance": {"ulp": 2, "absolute": 0.5, "relative": 0.25,
                                                        "operands": 0.125}},
            "combine": {"parameters": ["a", "b"],
                        "result": {"value": "max(a.value, b.value)", "index": "a.index"}}},
  "state": [{"name": "scale", "type": "float32", "default": 2},
            {"name": "offset", "type": "int64", "default": 9007199254740993},
            {"name": "z", "type": "complex64", "default": [1, -1]},
            {"name": "last", "type": "uint8"}],
  "element": [{"name": "value", "type": "float32"}, {"name": "index", "type": "int32"}],
  "error_model": "additive"})json");

class TransformReference : public testing::Test {
 protected:
  fixtures::folder folder_;

  [[nodiscard]] transform_reference read(nlohmann::json const& content)
  {
    return transform_reference::read(folder_.write("t.json", content.dump()));
  }

  /// Expects that the good sidecar with `value` at `place` is refused.
  void refuse(char const* place, nlohmann::json const& value, std::string const& says,
              std::string const& hint = "")
  {
    auto content = k_good;
    content[nlohmann::json::json_pointer(place)] = value;
    refuse(content, says, hint);
  }
  void refuse(nlohmann::json const& content, std::string const& says, std::string const& hint = "")
  {
    expect_error<file_error>([&] { (void)read(content); }, "t.json: " + says);
    try {
      (void)read(content);
    } catch (file_error const& refused) {
      EXPECT_THAT(refused.details().hint, testing::HasSubstr(hint)) << says;
      EXPECT_EQ(refused.details().code, error_code::invalid_sidecar);
    }
  }
};

}  // namespace

TEST_F(TransformReference, OfOneHookIsAnExpressionInX)
{
  nlohmann::json const stated{
      {"name", "t"}, {"summary", "s"}, {"hook", "h"}, {"reference", "2*x"}, {"tolerance_ulp", 1.5}};
  auto const found = read(stated);
  EXPECT_FALSE(found.states_hooks);
  EXPECT_EQ(found.hooks.front().result.front().text, "2*x");
  EXPECT_EQ(found.hooks.front().tolerance.ulp, 1.5);
  auto other = stated;
  other["reference"] = "2*y";
  refuse(other, "reference: ");
  other = stated;
  other["tolerance_ulp"] = 1048576;
  EXPECT_EQ(read(other).hooks.front().tolerance.ulp, 1048576);
  other["tolerance_ulp"] = 1048577;
  refuse(other, "tolerance_ulp: is 1048577");
  other["tolerance_ulp"] = -1;
  refuse(other, "tolerance_ulp: is not a number, 0 or more");
}

TEST_F(TransformReference, ReadsHooksStateElementAndErrorModel)
{
  auto const transform = read(k_good);
  EXPECT_EQ(transform.name, "scaled_load");
  EXPECT_EQ(transform.model, error_model::additive);
  ASSERT_EQ(transform.hooks.size(), 2U);
  auto const* const load = transform.find("load");
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->parameters, (std::vector<std::string>{"x", "index"}));
  EXPECT_EQ(load->result.front().text, "state.scale * x + index");
  EXPECT_EQ(load->type, scalar_type(scalar_kind::float32));
  EXPECT_EQ(load->tolerance.ulp, 2);
  EXPECT_EQ(load->tolerance.absolute, 0.5);
  EXPECT_EQ(load->tolerance.relative, 0.25);
  EXPECT_EQ(load->tolerance.operands, 0.125);
  auto const* const combine = transform.find("combine");
  ASSERT_EQ(combine->result.size(), 2U);
  EXPECT_EQ(combine->result[0].field, "index");
  EXPECT_EQ(combine->tolerance.ulp, 0);
  EXPECT_EQ(transform.find("store"), nullptr);
  EXPECT_EQ(to_string(*transform.types.element), "{value: float32, index: int32}");
}

TEST_F(TransformReference, LaysOutTheStatesDefaultsAsCppDoes)
{
  struct state {
    float scale;
    std::int64_t offset;
    alignas(8) float z[2];
    std::uint8_t last;
  };
  auto const types = read(k_good).types;
  ASSERT_EQ(types.state->size, sizeof(state));
  ASSERT_EQ(types.default_state.size(), sizeof(state));
  state defaults{};
  std::memcpy(&defaults, types.default_state.data(), sizeof defaults);
  EXPECT_EQ(defaults.scale, 2);
  EXPECT_EQ(defaults.offset, 9007199254740993);
  EXPECT_EQ(defaults.z[1], -1);
  EXPECT_EQ(defaults.last, 0);
}

TEST_F(TransformReference, ReadsTheFormForOneHookInX)
{
  auto const transform = read({{"name", "t"},
                               {"summary", "s"},
                               {"hook", "h"},
                               {"reference", "2*x"},
                               {"tolerance_ulp", 1.5}});
  ASSERT_EQ(transform.hooks.size(), 1U);
  EXPECT_EQ(transform.hooks[0].hook, "h");
  EXPECT_EQ(transform.hooks[0].parameters, std::vector<std::string>{"x"});
  EXPECT_EQ(transform.hooks[0].tolerance.ulp, 1.5);
  EXPECT_FALSE(transform.states_hooks);
}

TEST_F(TransformReference, BindsAnElementByName)
{
  auto content = k_good;
  content["element"] = "bfloat16";
  EXPECT_EQ(read(content).types.element, scalar_type(scalar_kind::bfloat16));
  content["hooks"]["load"]["type"] = "element";
  EXPECT_EQ(read(content).find("load")->type, scalar_type(scalar_kind::bfloat16));
}

TEST_F(TransformReference, OffersTheTypeThatANameOfCppMeans)
{
  refuse("/state/0/type", "float", "state[0].type: unknown type \"float\"",
         "did you mean \"float32\"?");
  refuse("/element", "unsigned char", "element: unknown type \"unsigned char\"",
         "did you mean \"uint8\"?");
}

TEST_F(TransformReference, RefusesUnknownMembersWithTheNearestOne)
{
  refuse("/hooks/load/paramters", "x", "hooks.load: unknown key \"paramters\"",
         "did you mean \"parameters\"?");
  refuse("/hooks/load/tolerance/ulps", 1, "hooks.load.tolerance: unknown key \"ulps\"",
         "did you mean \"ulp\"?");
  refuse("/state/0/defualt", 1, "state[0]: unknown key \"defualt\"", "\"default\"");
  refuse("/element/0/default", 1, "element[0]: unknown key \"default\"");
}

TEST_F(TransformReference, RefusesMissingMembersAndOnesOfTheWrongType)
{
  auto content = k_good;
  content.erase("name");
  refuse(content, "\"name\" is missing");
  content = k_good;
  content["hooks"]["load"].erase("parameters");
  refuse(content, "hooks.load: \"parameters\" is missing");
  content = k_good;
  content["hooks"]["load"].erase("result");
  refuse(content, "hooks.load: \"result\" is missing");
  refuse("/name", 1, "name: is of type", "a string");
  refuse("/hooks", "load", "hooks: is of type", "an object");
  refuse("/hooks", nlohmann::json::object(), "hooks: is empty");
  refuse("/hooks/load", 1, "hooks.load: is of type", "an object");
  refuse("/hooks/load/parameters", "x", "hooks.load.parameters: is of type", "array");
  refuse("/hooks/load/result", 1, "hooks.load.result: is of type", "a string");
  refuse("/hooks/load/tolerance", 1, "hooks.load.tolerance: is of type");
  refuse("/hooks/load/tolerance/ulp", "2", "hooks.load.tolerance.ulp: is of type", "a number");
  refuse("/error_model", 1, "error_model: is of type");
  refuse("/state", 1, "state: is of type", "an array");
  refuse("/element", 1, "element: is of type", "an array");
}

TEST_F(TransformReference, RefusesMembersOfBothForms)
{
  refuse("/hook", "load", "hook: belongs to the form for one hook in x", "\"hooks\"");
  refuse("/tolerance_ulp", 1, "tolerance_ulp: belongs to the form for one hook in x");
}

TEST_F(TransformReference, RefusesNamesThatAreNone)
{
  refuse("/hooks/load/parameters/0", "2x", "hooks.load.parameters[0]: \"2x\" is not a name");
  refuse("/hooks/load/parameters/1", "x", "hooks.load.parameters[1]: is \"x\", as another");
  refuse("/hooks/load/parameters/0", "state", "hooks.load.parameters[0]: is \"state\", which has");
  refuse("/hooks/a b", k_good["hooks"]["load"], "hooks.a b: is not the name of a function");
  refuse("/state/0/name", "a.b", "state[0].name: \"a.b\" is not a name");
  refuse("/state/1/name", "scale", "state: is not a struct: two fields are called 'scale'");
}

TEST_F(TransformReference, RefusesExpressionsThatCannotBeEvaluated)
{
  refuse("/hooks/load/result", "2 *", "hooks.load.result: ", "an expression");
  refuse("/hooks/load/result", "max(x", "hooks.load.result: ");
  refuse("/hooks/load/result", "x + inxed", "hooks.load.result: unknown name \"inxed\"",
         "did you mean \"index\"?");
  refuse("/hooks/load/result", "x * state.scael", "hooks.load.result: unknown name \"state.scael\"",
         "state.scale");
  refuse("/hooks/load/result", "state", "hooks.load.result: unknown name \"state\"");
  refuse("/hooks/combine/result/index", "c.index", "hooks.combine.result.index: unknown name");
}

TEST_F(TransformReference, RefusesTolerancesThatWouldVerifyAnything)
{
  refuse("/hooks/load/tolerance/ulp", -1, "hooks.load.tolerance.ulp: is not a number, 0 or");
  refuse("/hooks/load/tolerance/absolute", -1, "hooks.load.tolerance.absolute: is not a");
  refuse("/hooks/load/tolerance/ulp", 1048577, "hooks.load.tolerance.ulp: is 1048577, above");
  refuse("/hooks/load/tolerance/relative", 0.75, "hooks.load.tolerance.relative: is 0.75");
  refuse("/hooks/load/tolerance/operands", 0.75,
         "hooks.load.tolerance.operands: is 0.75, above 0.5: it would verify anything");
  refuse("/hooks/load/tolerance/operands", -1, "hooks.load.tolerance.operands: is not a");
  refuse("/hooks/load/tolerance/operands", "1", "hooks.load.tolerance.operands: is of type");
}

TEST_F(TransformReference, RefusesTypesAndModelsThatItDoesNotKnow)
{
  refuse("/hooks/load/type", "flaot32", "hooks.load.type: is \"flaot32\", which is not");
  refuse("/hooks/load/type", "bytes4", "hooks.load.type: is \"bytes4\", which is not");
  refuse("/error_model", "aditive", "error_model: unknown error model \"aditive\"",
         "did you mean \"additive\"?");
  refuse("/state/0/type", "flot32", "state[0].type: unknown type \"flot32\"", "float32");
  refuse("/element/0/type", "bytes4", "element: is not a struct: field 'value' is of type bytes4");
  refuse("/element", "flot32", "element: unknown type \"flot32\"");
}

TEST_F(TransformReference, RefusesDefaultsThatTheirTypeCannotRepresent)
{
  refuse("/state/0/default", "2", "state[0].default: is of the wrong type", "a number");
  refuse("/state/0/default", 1e40, "state[0].default: is out of the range of float32");
  refuse("/state/1/default", 1.5, "state[1].default: is not a whole number, as int64 is");
  refuse("/state/1/default", UINT64_MAX, "state[1].default: is out of the range of int64");
  refuse("/state/2/default", 1, "state[2].default: is of the wrong type", "[real, imaginary]");
  refuse("/state/3/default", 256, "state[3].default: is out of the range of uint8");
  refuse("/state/3/default", -1, "state[3].default: is out of the range of uint8");
}

TEST_F(TransformReference, OfASourceHasNoOtherMembers)
{
  auto const read_source = [&](nlohmann::json const& content) {
    return transform_reference::read_source(folder_.write("t.json", content.dump()));
  };
  EXPECT_TRUE(read_source(k_good));
  EXPECT_FALSE(read_source({{"name", "t"}, {"summary", "s"}}));
  expect_error<file_error>(
      [&] {
        read_source({{"name", "t"}, {"tolerance", 1}});
      },
      "unknown key \"tolerance\"");
  auto content = k_good;
  content["sha256"] = std::string(64, '0');
  expect_error<file_error>([&] { read_source(content); }, "unknown key \"sha256\"");
}

TEST_F(TransformReference, OfASourceStatesEveryKeyOnce)
{
  auto const text = R"({"name": "t", "hooks": {"f": {"result": "x", "result": "2 * x"}}})";
  expect_error<file_error>([&] { transform_reference::read_source(folder_.write("t.json", text)); },
                           "t.json: hooks.f.result: is stated twice");
}

TEST_F(TransformReference, BesideASourceHasNoUnknownMembers)
{
  auto content = k_good;
  content["sha256"] = std::string(64, '0');
  folder_.write("t.json", content.dump());
  EXPECT_TRUE(transform_reference::beside(folder_.path() / "t.cu"));
  content["elements"] = "float32";
  folder_.write("t.json", content.dump());
  EXPECT_TRUE(transform_reference::beside(folder_.path() / "t.fatbin"));
  expect_error<file_error>([&] { transform_reference::beside(folder_.path() / "t.cu"); },
                           "unknown key \"elements\"");
}

TEST_F(TransformReference, NamesTheFunctionThatIsSimilarToAnUnknownOne)
{
  auto content = k_good;
  auto& hook = content["hooks"].begin().value();
  hook = {{"parameters", {"x"}}, {"result", "minn(x, 1)"}};
  try {
    transform_reference::read(folder_.write("t.json", content.dump()));
    FAIL();
  } catch (file_error const& refused) {
    EXPECT_THAT(refused.details().hint,
                testing::StartsWith("did you mean min? write an expression"));
  }
}

TEST_F(TransformReference, IsReadFromBesideTheFatbin)
{
  EXPECT_FALSE(transform_reference::beside(folder_.path() / "t.fatbin"));
  folder_.write("t.json", R"({"sha256": ")" + std::string(64, '0') + "\"}");
  EXPECT_FALSE(transform_reference::beside(folder_.path() / "t.fatbin"));
  folder_.write("t.json", k_good.dump());
  auto const stated = transform_reference::beside(folder_.path() / "t.fatbin");
  ASSERT_TRUE(stated);
  EXPECT_EQ(stated->types.state->fields.size(), 4U);
}
