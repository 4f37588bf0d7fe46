// SPDX-License-Identifier: Apache-2.0
// What "computes" means, for operands of every kind; error_bounds_test.cpp has every type.
#include "verification/plan_reference.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "expect_error.hpp"
#include "plan_fixture.hpp"

using namespace fatlink;
using namespace fixtures;

namespace {

auto const k_float = type_of("float32");
auto const k_int = type_of("int32");

array floats(std::vector<double> const& values)
{
  return {k_float, values};
}

plan_reference reference_of(computation value, transform_reference transform,
                            std::map<std::string, array_view> arguments)
{
  return {plan_of(std::move(value)), {std::move(transform)}, {.arguments = std::move(arguments)}};
}

void expect_verified(plan_reference const& reference, array const& out)
{
  auto const summary = reference.verify("out", out);
  EXPECT_EQ(summary.reason, "");
  EXPECT_TRUE(summary.verified()) << "element " << summary.first_failure << " expected "
                                  << summary.expected << " actual " << summary.actual << " bound "
                                  << summary.bound;
}

void expect_reason(plan_reference const& reference, array const& out, std::string const& says)
{
  auto const summary = reference.verify("out", out);
  EXPECT_THAT(summary.reason, testing::HasSubstr(says));
  EXPECT_FALSE(summary.verified());
  EXPECT_EQ(summary.elements, 0U);
  EXPECT_TRUE(reference.expected_text("out", out, 3).empty());
}

auto const k_best = record_type("best", {"value", "index"}, {k_float, k_int});

transform_reference best_transform()
{
  auto transform = transform_of(
      {{.hook = "most",
        .parameters = {"a", "b"},
        .result = {{"index", "a.value >= b.value ? a.index : b.index"},
                   {"value", "max(a.value, b.value)"}}},
       {.hook = "pair", .parameters = {"x", "i"}, .result = {{"index", "i"}, {"value", "abs(x)"}}}},
      error_model::exact);
  return transform;
}

}  // namespace

TEST(PlanReference, OfMapsPassesOperandsByPosition)
{
  auto const a = floats({1, 2, 3});
  auto const b = floats({10, 20, 30});
  auto const scale = floats({2});
  auto const reference = reference_of(
      node(operation::map, "f", {argument("b"), argument("a"), argument("scale"), index_operand()}),
      transform_of({hook_of("f", {"x", "y", "s", "i"}, "s * (x - y) + i")}),
      {{"a", a}, {"b", b}, {"scale", scale}});
  expect_verified(reference, floats({18, 37, 56}));
  EXPECT_EQ(reference.expected_text("out", floats({0, 0, 0}), 2),
            (std::vector<std::string>{"18", "37"}));
  auto const wrong = reference.verify("out", floats({18, 37, 57}));
  EXPECT_EQ(wrong.failures, 1U);
  EXPECT_EQ(wrong.first_failure, 2U);
  EXPECT_EQ(wrong.expected, "56");
  EXPECT_EQ(wrong.actual, "57");
  EXPECT_EQ(wrong.bound, 0);
  EXPECT_EQ(wrong.max_abs_error, 1);
  EXPECT_EQ(wrong.method, "map(f, b, a, scale, index)");
}

TEST(PlanReference, OfMapsWithASizeKnowsRowAndColumn)
{
  auto const in = floats({1, 2, 3, 4, 5, 6});
  array const width(type_of("int64"), std::vector<int>{3});
  auto const reference = reference_of(
      node(operation::map, "f", {argument("in"), index_operand(), argument("width")}),
      transform_of(
          {hook_of("f", {"x", "i", "w"}, "x + 10 * floor(i / w) + 100 * (i - w * floor(i / w))")}),
      {{"in", in}, {"width", width}});
  expect_verified(reference, floats({1, 102, 203, 14, 115, 216}));
}

TEST(PlanReference, OfNeighborsClampsAtBothEnds)
{
  auto const in = floats({1, 2, 4, 8});
  auto const reference = reference_of(
      node(operation::map, "f",
           {neighbor(argument("in"), -1), argument("in"), neighbor(argument("in"), 2)}),
      transform_of({hook_of("f", {"l", "x", "r"}, "l + 10 * x + 100 * r")}), {{"in", in}});
  expect_verified(reference, floats({411, 821, 842, 884}));
}

TEST(PlanReference, UsesTheStateOrItsDefault)
{
  auto transform = transform_of({hook_of("f", {"x"}, "state.scale * x + state.offset")});
  transform.types.state = record_type("", {"scale", "offset"}, {k_float, k_int});
  array state(*transform.types.state, 1);
  state.set(0, 2.0, 0);
  state.set(0, 1.0, 1);
  transform.types.default_state = state.bytes;
  auto const in = floats({1, 2});
  auto const value = node(operation::map, "f", {argument("in")});
  expect_verified(reference_of(value, transform, {{"in", in}}), floats({3, 5}));
  state.set(0, 3.0, 0);
  plan_data const data{.arguments = {{"in", in}}, .state = state.bytes};
  expect_verified({plan_of(value), {transform}, data}, floats({4, 7}));
  plan_data const small{.arguments = {{"in", in}}, .state = std::span(state.bytes).first(4)};
  expect_error<file_error>(
      [&] { (void)plan_reference(plan_of(value), {transform}, small).verify("out", in); },
      "t.json: hook f: the state has 4 bytes, less than 8");
}

TEST(PlanReference, OfRecordsComparesEveryField)
{
  auto const in = floats({3, -7, 5});
  auto const elements = node(operation::map, "pair", {argument("in"), index_operand()});
  auto const reference =
      reference_of(node(operation::fold, "most", {elements}), best_transform(), {{"in", in}});
  array out(k_best, 1);
  out.set(0, 7.0, 0);
  out.set(0, 1.0, 1);
  expect_verified(reference, out);
  EXPECT_EQ(reference.expected_text("out", out, 1).front(), "{value: 7, index: 1}");
  out.set(0, 2.0, 1);
  auto const wrong = reference.verify("out", out);
  EXPECT_EQ(wrong.failures, 1U);
  EXPECT_EQ(wrong.component, "index");
  EXPECT_EQ(wrong.expected, "1");
  EXPECT_EQ(wrong.actual, "2");
}

TEST(PlanReference, OfComplexNumbersBoundsByTheModulus)
{
  auto const type = type_of("complex64");
  hook_reference const product{.hook = "times",
                               .parameters = {"a", "b"},
                               .result = {{"imag", "a.real * b.imag + a.imag * b.real"},
                                          {"real", "a.real * b.real - a.imag * b.imag"}},
                               .tolerance = {.ulp = 2}};
  auto const transform = transform_of({product}, error_model::relative);
  auto const in = generated(type, 4096);
  array out(type, in.count());
  for (std::size_t i = 0; i < in.count(); ++i) {
    auto const real = static_cast<float>(in.get(i, 0).real);
    auto const imag = static_cast<float>(in.get(i, 1).real);
    out.set(i, static_cast<double>(real * real - imag * imag), 0);
    out.set(i, static_cast<double>(real * imag + imag * real), 1);
  }
  auto const reference = reference_of(
      node(operation::map, "times", {argument("in"), argument("in")}), transform, {{"in", in}});
  expect_verified(reference, out);
  auto const modulus = std::hypot(out.get(2000, 0).real, out.get(2000, 1).real);
  out.set(2000, out.get(2000, 1).real + modulus * 0x1p-20, 1);
  auto const wrong = reference.verify("out", out);
  EXPECT_EQ(wrong.failures, 1U);
  EXPECT_EQ(wrong.component, "imag");
}

TEST(PlanReference, OfProductsOfComplexNumbersFollowsTheRelativeModel)
{
  auto const type = type_of("complex64");
  hook_reference const product{.hook = "times",
                               .parameters = {"a", "b"},
                               .result = {{"imag", "a.real * b.imag + a.imag * b.real"},
                                          {"real", "a.real * b.real - a.imag * b.imag"}},
                               .tolerance = {.ulp = 2}};
  array in(type, 1000);
  auto real = 1.0F;
  auto imag = 0.0F;
  for (std::size_t i = 0; i < in.count(); ++i) {
    auto const x = i % 2 == 0 ? 0.6F : 0.8F;
    auto const y = i % 2 == 0 ? 0.8F : 0.6F;
    in.set(i, static_cast<double>(x), 0);
    in.set(i, static_cast<double>(y), 1);
    auto const next = real * x - imag * y;
    imag = real * y + imag * x;
    real = next;
  }
  array out(type, 1);
  out.set(0, static_cast<double>(real), 0);
  out.set(0, static_cast<double>(imag), 1);
  auto const reference = reference_of(node(operation::fold, "times", {argument("in")}),
                                      transform_of({product}, error_model::relative), {{"in", in}});
  expect_verified(reference, out);
  out.set(0, static_cast<double>(imag) + 1e-3, 1);
  EXPECT_EQ(reference.verify("out", out).failures, 1U);
}

TEST(PlanReference, OfIntegersOf64BitsIsExact)
{
  auto const type = type_of("int64");
  array in(type, 3);
  for (std::size_t i = 0; i < 3; ++i)
    in.set(i, detail::whole_number((detail::int128(1) << 60) + static_cast<int>(i)));
  auto const reference =
      reference_of(node(operation::fold, "add", {argument("in")}),
                   transform_of({hook_of("add", {"a", "b"}, "a + b")}), {{"in", in}});
  array out(type, 1);
  out.set(0, detail::whole_number(3 * (detail::int128(1) << 60) + 3));
  expect_verified(reference, out);
  out.set(0, detail::whole_number(3 * (detail::int128(1) << 60) + 4));
  EXPECT_EQ(reference.verify("out", out).expected, "3458764513820540931");
}

TEST(PlanReference, OfFloatsToIntegersTruncatesAndSaturates)
{
  auto const in = floats({1.75, -1.75, 300, -300});
  auto const type = type_of("int8");
  auto const value = node(operation::map, "f", {argument("in")});
  array out(type, std::vector<int>{1, -1, 127, -128});
  expect_verified(reference_of(value, transform_of({hook_of("f", {"x"}, "x")}), {{"in", in}}), out);
  out.set(0, 2.0);
  auto const off_by_one =
      reference_of(value, transform_of({hook_of("f", {"x"}, "x", {.ulp = 1})}), {{"in", in}});
  expect_verified(off_by_one, out);
  out.set(0, 3.0);
  EXPECT_EQ(off_by_one.verify("out", out).failures, 1U);
}

TEST(PlanReference, PropagatesErrorsOfInnerMaps)
{
  auto const in = floats({1, 100});
  auto const value =
      node(operation::map, "outer", {node(operation::map, "inner", {argument("in")})});
  auto const reference =
      reference_of(value,
                   transform_of({hook_of("inner", {"x"}, "x + 1", {.absolute = 0.125}),
                                 hook_of("outer", {"x"}, "x * x", {.ulp = 0.5})}),
                   {{"in", in}});
  // (2 ± 0.125)² and (101 ± 0.125)²
  expect_verified(reference, floats({4.5, 10201 + 25.25}));
  EXPECT_EQ(reference.verify("out", floats({4.5, 10201 + 25.5})).failures, 1U);
  EXPECT_EQ(reference.verify("out", floats({4.625, 10201})).failures, 1U);
}

TEST(PlanReference, CountsElementsThatAnyValueWouldSatisfy)
{
  auto const in = floats({1});
  auto const value =
      node(operation::map, "outer", {node(operation::map, "inner", {argument("in")})});
  auto const reference = reference_of(value,
                                      transform_of({hook_of("inner", {"x"}, "x", {.absolute = 1}),
                                                    hook_of("outer", {"x"}, "1 / x")}),
                                      {{"in", in}});
  auto const summary = reference.verify("out", floats({5}));
  EXPECT_TRUE(summary.verified());
  EXPECT_EQ(summary.unbounded, 1U);
}

TEST(PlanReference, TakesNanOnlyForNanAndInfinityOnlyForItself)
{
  auto const nan = std::nan("");
  auto const in = floats({nan, HUGE_VAL, 1, 3e38});
  auto const reference =
      reference_of(node(operation::map, "f", {argument("in")}),
                   transform_of({hook_of("f", {"x"}, "2 * x", {.ulp = 1})}), {{"in", in}});
  expect_verified(reference, floats({nan, HUGE_VAL, 2, HUGE_VAL}));
  EXPECT_EQ(reference.verify("out", floats({1, HUGE_VAL, 2, HUGE_VAL})).failures, 1U);
  EXPECT_EQ(reference.verify("out", floats({nan, 3e38, 2, HUGE_VAL})).failures, 1U);
  EXPECT_EQ(reference.verify("out", floats({nan, HUGE_VAL, nan, HUGE_VAL})).failures, 1U);
  EXPECT_EQ(reference.verify("out", floats({nan, HUGE_VAL, 2, -HUGE_VAL})).failures, 1U);
}

TEST(PlanReference, KeepsTheOrderOfFoldsThatAreNotCommutative)
{
  array in(type_of("int32"), 5000);
  for (std::size_t i = 0; i < in.count(); ++i) in.set(i, static_cast<double>(i));
  auto const value = node(operation::fold, "last", {argument("in"), argument("init")});
  array const init(k_int, std::vector<int>{-1});
  auto const reference =
      reference_of(value, transform_of({hook_of("last", {"a", "b"}, "b + 0 * a")}),
                   {{"in", in}, {"init", init}});
  expect_verified(reference, array(k_int, std::vector<int>{4999}));
  auto const first = reference_of(
      node(operation::fold, "first", {argument("in"), argument("init")}),
      transform_of({hook_of("first", {"a", "b"}, "a + 0 * b")}), {{"in", in}, {"init", init}});
  expect_verified(first, array(k_int, std::vector<int>{-1}));
}

TEST(PlanReference, OfAFilterThatKeepsNothingIsVerified)
{
  auto const in = floats({1, 2});
  auto const reference =
      reference_of(node(operation::filter, "keep", {argument("in")}),
                   transform_of({hook_of("keep", {"x"}, "x > 5")}), {{"in", in}});
  expect_verified(reference, floats({7, 8}));
}

TEST(PlanReference, OfCopiesSeesTheSignOfZeroAndTheOrderOfEqualKeys)
{
  array in(k_best, 3);
  for (std::size_t i = 0; i < 3; ++i) in.set(i, static_cast<double>(i), 1);
  auto const reference =
      reference_of(node(operation::sort, "less", {argument("in")}),
                   transform_of({hook_of("less", {"a", "b"}, "a.value < b.value")}), {{"in", in}});
  expect_verified(reference, in);
  auto wrong = in;
  std::swap_ranges(wrong.at(0), wrong.at(1), wrong.at(1));
  EXPECT_EQ(reference.verify("out", wrong).failures, 2U);
  wrong = in;
  wrong.set(0, -0.0, 0);
  EXPECT_EQ(reference.verify("out", wrong).component, "value");
}

TEST(PlanReference, ComparesTwoResultsWithTwiceTheBound)
{
  auto const in = floats({1, 2});
  auto const reference =
      reference_of(node(operation::map, "f", {argument("in")}),
                   transform_of({hook_of("f", {"x"}, "x", {.absolute = 0.25})}), {{"in", in}});
  EXPECT_TRUE(reference.verify_between("out", floats({1.25, 2}), floats({0.75, 2})).verified());
  auto const wrong = reference.verify_between("out", floats({1.25, 2}), floats({0.625, 2}));
  EXPECT_EQ(wrong.failures, 1U);
  EXPECT_EQ(wrong.expected, "1.25");
  EXPECT_EQ(wrong.actual, "0.625");
  EXPECT_EQ(reference.verify_between("out", floats({1}), floats({1, 2})).reason,
            "the two results differ in type or size");
}

TEST(PlanReference, SaysWhyAnOutputCannotBeVerified)
{
  auto const in = floats({1, 2});
  auto const map = node(operation::map, "f", {argument("in")});
  auto const fold = node(operation::fold, "f", {argument("in")});
  auto const no_hooks = transform_of({});
  auto const add = transform_of({hook_of("f", {"a", "b"}, "a + b")});
  auto const reference = reference_of(map, no_hooks, {{"in", in}});
  expect_reason(reference, in, "no sidecar states what the hook f computes");
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
  refuse(hook_of("f", {"x"}, "x.vaule"), in, "x.vaule does not exist");
  refuse(hook_of("f", {"x"}, "x.value"), pairs, "states one expression for a result of several");
  refuse({.hook = "f", .parameters = {"x"}, .result = {{"value", "x.value"}}}, pairs,
         "states no expression for index of the result");
  refuse({.hook = "f", .parameters = {"x"}, .result = {{"valeu", "x.value"}}}, pairs,
         "states an expression for valeu, which the result does not have");
}

TEST(CompareOutputs, AllowsTheLargestOfTheThreeTolerances)
{
  auto const expected = floats({1000, 0});
  auto const compare = [&](std::vector<double> const& values, hook_tolerance tolerance) {
    return compare_outputs(expected, floats(values), tolerance).verified();
  };
  EXPECT_TRUE(compare({1000, 0}, {}));
  EXPECT_FALSE(compare({1001, 0}, {}));
  EXPECT_TRUE(compare({1001, 0}, {.relative = 0.001}));
  EXPECT_FALSE(compare({1002, 0}, {.relative = 0.001}));
  EXPECT_TRUE(compare({1001, 1}, {.absolute = 1}));
  EXPECT_TRUE(compare({1000 + 0x1p-14, 0x1p-149}, {.ulp = 1}));
  EXPECT_FALSE(compare({1000 + 0x1p-13, 0}, {.ulp = 1}));
}

TEST(CompareOutputs, ComparesBytesAndSaysWhatDiffers)
{
  auto const a = generated(bytes_type(5), 1000);
  EXPECT_TRUE(compare_outputs(a, a, {}).verified());
  auto b = a;
  b.at(500)[3] ^= std::byte{1};
  auto const wrong = compare_outputs(a, b, {.absolute = 100});
  EXPECT_EQ(wrong.failures, 1U);
  EXPECT_EQ(wrong.first_failure, 500U);
  EXPECT_EQ(wrong.component, "byte3");
  EXPECT_EQ(compare_outputs(a, floats({1}), {}).reason, "the types differ: bytes5 and float32");
  EXPECT_EQ(compare_outputs(floats({1, 2}), floats({1}), {}).reason,
            "the sizes differ: 2 and 1 elements");
}

TEST(CompareOutputs, FindsTheFirstFailureOnAnyCore)
{
  auto const a = generated(type_of("float64"), 300'000);
  for (std::size_t const index : {std::size_t{0}, std::size_t{150'000}, std::size_t{299'999}}) {
    auto b = a;
    b.set(index, 100.0);
    b.set(299'999, 100.0);
    EXPECT_EQ(compare_outputs(a, b, {}).first_failure, index);
  }
}

namespace {

/// 0.1·a − 0.1·b of operands near `scale` that differ by a thousandth, in float, with `error`
/// added.
array differences(array const& a, array const& b, double error)
{
  array out(k_float, a.count());
  for (std::size_t i = 0; i < a.count(); ++i) {
    auto const x = static_cast<float>(a.get(i).real);
    auto const y = static_cast<float>(b.get(i).real);
    out.set(i, static_cast<double>(0.1F * x - 0.1F * y) + error);
  }
  return out;
}

}  // namespace

TEST(PlanReference, BoundsSumsThatCancelByTheirOperandsAtEveryScale)
{
  constexpr auto k_roundoff = 0x1p-24;
  auto const transform = transform_of(
      {hook_of("f", {"a", "b", "unused"}, "0.1 * a - 0.1 * b", {.operands = k_roundoff})});
  for (auto const scale : {1e-6, 1.0, 1e6}) {
    array a(k_float, 1000);
    array b(k_float, 1000);
    for (std::size_t i = 0; i < a.count(); ++i) {
      a.set(i, scale * (1 + 1e-3 * static_cast<double>(i)));
      b.set(i, scale * (1.001 + 1e-3 * static_cast<double>(i)));
    }
    auto const huge = floats({1e30});
    auto const reference =
        reference_of(node(operation::map, "f", {argument("a"), argument("b"), argument("huge")}),
                     transform, {{"a", a}, {"b", b}, {"huge", huge}});
    expect_verified(reference, differences(a, b, 0));
    EXPECT_EQ(reference.verify("out", differences(a, b, 3 * k_roundoff * scale)).failures > 0, true)
        << scale;
  }
}

TEST(PlanReference, DoesNotCountInfiniteOperandsAndThoseOfTheState)
{
  auto transform =
      transform_of({hook_of("f", {"a", "b"}, "min(a, b) + 0 * state.s", {.operands = 0.5})});
  transform.types.state = record_type("", {"s"}, {k_float});
  array state(*transform.types.state, 1);
  state.set(0, 1e6, 0);
  transform.types.default_state = state.bytes;
  auto const a = floats({2, 2, -3});
  auto const b = floats({INFINITY, 1, 1});
  auto const reference = reference_of(node(operation::map, "f", {argument("a"), argument("b")}),
                                      transform, {{"a", a}, {"b", b}});
  expect_verified(reference, floats({3, 2, -1.5}));
  EXPECT_EQ(reference.verify("out", floats({3.1, 2.1, -1.4})).failures, 3U);
}

TEST(PlanReference, AddsTheBoundOfANestedOperandToItsMagnitude)
{
  auto const inner = hook_of("g", {"x"}, "x", {.absolute = 1});
  auto const outer = hook_of("f", {"y"}, "y", {.operands = 0.5});
  auto const in = floats({8});
  auto const reference =
      reference_of(node(operation::map, "f", {node(operation::map, "g", {argument("in")})}),
                   transform_of({outer, inner}), {{"in", in}});
  expect_verified(reference, floats({8 + 0.5 * (8 + 1) + 1}));
  EXPECT_EQ(reference.verify("out", floats({8 + 0.5 * (8 + 1) + 1.01})).failures, 1U);
}

TEST(PlanReference, AddsTheOperandsToTheErrorOfEachSum)
{
  auto const in = floats({1, 1, -1, -1});
  auto const value = node(operation::fold, "f", {argument("in"), argument("init")});
  auto const init = floats({0});
  auto const of = [&](std::string const& text, error_model model) {
    return reference_of(
        value, transform_of({hook_of("f", {"a", "b"}, text, {.operands = 0x1p-10})}, model),
        {{"in", in}, {"init", init}});
  };
  auto const bound = 4 * (std::pow(1 + 0x1p-10, 4) - 1);
  expect_verified(of("a + b", error_model::additive), floats({0.99 * bound}));
  EXPECT_EQ(of("a + b", error_model::additive).verify("out", floats({1.01 * bound})).failures, 1U);
  auto const* const cause =
      "hook f of t.json has a tolerance of its \"operands\", which folds have "
      "for sums only";
  expect_reason(of("a * b", error_model::relative), floats({0}), cause);
  expect_reason(of("a + 2 * b", error_model::additive), floats({0}), cause);
}
