// SPDX-License-Identifier: Apache-2.0
// Outputs that cannot be verified, and references that do not fit.
#include "verification/plan_reference.hpp"

#include "expect_error.hpp"
#include "plan_reference_fixture.hpp"

using namespace fatlink;
using namespace plan_fixture;

TEST(PlanReference, SaysWhyAnOutputCannotBeVerified)
{
  auto const in = floats({1, 2});
  auto const map = node(operation::map, "f", {argument("in")});
  auto const fold = node(operation::fold, "f", {argument("in")});
  auto const no_hooks = transform_of({});
  auto const add = transform_of({hook_of("f", {"a", "b"}, "a + b")});
  auto const reference = reference_of(map, no_hooks, {{"in", in}});
  expect_reason(reference, in,
                "no sidecar (.json beside a transform) states what the hook f computes");
  EXPECT_EQ(reference.verify("other", in).reason,
            "the plan's \"computes\" does not state what other is");
  expect_reason(reference_of(map, no_hooks, {}), in, "the data of in is not known");
  expect_reason(reference_of(fold, add, {{"in", in}}), in, "t.json states no \"error_model\"");
  auto const identity = transform_of({hook_of("f", {"x"}, "x")}, error_model::additive);
  expect_reason(reference_of(map, identity, {{"in", in}}), floats({1, 2, 3}),
                "in has 2 elements where 3 are computed");
  expect_reason(reference_of(node(operation::map, "f", {fold}), identity, {{"in", in}}), in,
                "fold within another operation is not supported");
  expect_reason(reference_of(node(operation::sort, "f", {map}), identity, {{"in", in}}), in,
                "sort of computed elements cannot be verified, only of an argument");
  expect_reason(reference_of(node(operation::sort, "f", {argument("in"), argument("values")}),
                             transform_of({hook_of("f", {"a", "b"}, "a < b")}),
                             {{"in", in}, {"values", floats({1, 2, 3})}}),
                in, "values has 3 elements, and in has 2");
  expect_reason(
      reference_of(node(operation::filter, "f", {argument("in")}), identity, {{"in", in}}),
      array(k_int, 2), "the output is int32, and its elements are copies of float32");
  expect_reason(reference_of(fold, add, {{"in", in}}), array(k_int, 1), "elements of another type");
  expect_reason(reference_of(argument("in"), add, {{"in", in}}), array(k_int, 2),
                "the output is int32, and another type is computed");
  expect_reason(reference_of(map, identity, {{"in", in}}), array(bytes_type(4), 2),
                "bytes have no numbers that a reference could state");
}

TEST(PlanReference, SaysWhyFoldsHaveNoExpectedValue)
{
  auto const in = floats({1, 2, 3});
  auto const add = transform_of({hook_of("f", {"a", "b"}, "a + b")}, error_model::additive);
  auto const segments = node(operation::segmented_fold, "f", {argument("in"), argument("offsets")});
  auto const with = [&](array const& offsets) {
    return reference_of(segments, add, {{"in", in}, {"offsets", offsets}});
  };
  auto const offsets = [](std::vector<int> const& values) { return array(k_int, values); };
  auto const descending = offsets({0, 2, 1});
  expect_reason(with(descending), floats({0, 0}), "offsets[2] is 1, below the one before it");
  auto const beyond = offsets({0, 4});
  expect_reason(with(beyond), floats({0}),
                "offsets[1] is 4, below the one before it or above the 3");
  auto const negative = offsets({-1, 2});
  expect_reason(with(negative), floats({0}), "offsets[0] is -1");
  auto const good = offsets({0, 1, 3});
  expect_verified(with(good), floats({1, 5}));
  expect_reason(with(good), floats({1}), "3 offsets are 2 segments, and the output has 1");
  auto const empty = offsets({0, 0, 3});
  expect_reason(with(empty), floats({0, 6}), "a fold of no elements has no value");
  expect_reason(with(in), floats({0, 6}), "offsets is float32, not integers");
  expect_reason(reference_of(node(operation::scan, "f", {argument("in")}), add, {{"in", in}}),
                floats({1}), "3 elements are scanned, and the output has 1");
  auto const whole = array(k_int, 1);
  expect_reason(reference_of(node(operation::fold, "f", {argument("in"), argument("init")}), add,
                             {{"in", in}, {"init", whole}}),
                floats({1}), "the initial value has another type than the elements");
}

TEST(PlanReference, RefusesSumsOfFloatsByTheErrorModelOfAnotherOperation)
{
  auto const in = floats({1, 2, 3});
  auto const sum = [&](array const& elements, error_model model) {
    auto const reference =
        reference_of(node(operation::fold, "f", {argument("in")}),
                     transform_of({hook_of("f", {"a", "b"}, "a + b")}, model), {{"in", elements}});
    return reference.verify("out", array(elements.type, std::vector<int>{6})).verified();
  };
  expect_error<file_error>([&] { sum(in, error_model::relative); },
                           "t.json: hook f: adds floats, and \"error_model\" is \"relative\", "
                           "which is for products");
  expect_error<file_error>([&] { sum(in, error_model::exact); },
                           "which is for hooks that return one of their operands");
  EXPECT_TRUE(sum(in, error_model::additive));
  EXPECT_TRUE(sum(array(k_int, std::vector<int>{1, 2, 3}), error_model::exact));
}

TEST(PlanReference, RefusesReferencesThatDoNotFitTheTypes)
{
  auto const in = floats({1, 2});
  array const pairs(k_best, 2);
  auto const refuse = [&](hook_reference const& hook, array const& out, std::string const& says) {
    auto const reference = reference_of(node(operation::map, "f", {argument("pairs")}),
                                        transform_of({hook}), {{"pairs", pairs}});
    expect_error<file_error>([&] { (void)reference.verify("out", out); },
                             "t.json: hook f: " + says);
  };
  refuse(hook_of("f", {"a", "b"}, "a"), in,
         "has 2 parameters, and the plan's \"computes\" passes 1");
  refuse(hook_of("f", {"x"}, "x"), in, "x is a struct or a complex number");
  refuse(hook_of("f", {"x"}, "x.value % 2"), in,
         "\"x.value % 2\": % at character 9 takes integers, not floating-point numbers");
  refuse(hook_of("f", {"x"}, "x.value + y"), in, "\"x.value + y\": unknown name y at character 11");
  refuse(hook_of("f", {"x"}, "x.vaule"), in, "x.vaule does not exist");
  refuse(hook_of("f", {"x"}, "x.value"), pairs, "states one expression for a result of several");
  refuse({.hook = "f", .parameters = {"x"}, .result = {{"value", "x.value"}}}, pairs,
         "states no expression for index of the result");
  refuse({.hook = "f", .parameters = {"x"}, .result = {{"valeu", "x.value"}}}, pairs,
         "states an expression for valeu, which the result does not have");
}
