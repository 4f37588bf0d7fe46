// SPDX-License-Identifier: Apache-2.0
// The bounds of what references compute: of complex numbers, of nested maps, by operands.
#include "verification/plan_reference.hpp"

#include <algorithm>
#include <cmath>

#include "plan_reference_fixture.hpp"

using namespace fatlink;
using namespace plan_fixture;

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

/// The product of two complex numbers.
hook_reference const k_product{.hook = "times",
                               .parameters = {"a", "b"},
                               .result = {{"imag", "a.real * b.imag + a.imag * b.real"},
                                          {"real", "a.real * b.real - a.imag * b.imag"}},
                               .tolerance = {.ulp = 2}};

}  // namespace

TEST(PlanReference, OfComplexNumbersBoundsByTheModulus)
{
  auto const type = type_of("complex64");
  auto const transform = transform_of({k_product}, error_model::relative);
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
  auto const reference =
      reference_of(node(operation::fold, "times", {argument("in")}),
                   transform_of({k_product}, error_model::relative), {{"in", in}});
  expect_verified(reference, out);
  out.set(0, static_cast<double>(imag) + 1e-3, 1);
  EXPECT_EQ(reference.verify("out", out).failures, 1U);
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

TEST(PlanReference, OfASumOfAMillionFloatsHasABoundThatIsNotVacuous)
{
  auto const transform =
      transform_of({hook_of("add", {"a", "b"}, "a + b", {.ulp = 0.5})}, error_model::additive);
  auto in = generated(type_of("float32"), std::size_t{1} << 20);
  plan_data const data{.arguments = {{"in", in}}, .depths = {{"out", 21}}};
  plan_reference const reference(plan_of(node(operation::fold, "add", {argument("in")})),
                                 {transform}, data);
  arithmetic const exact(scalar_kind::float32);
  array out(type_of("float32"), 1);
  numbers values(in.count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = in.get(i);
  out.set(0, fold_pairwise(values, [&](auto a, auto b) { return exact.add(a, b); }));
  EXPECT_TRUE(reference.verify("out", out).verified());
  // One element of a million that is left out.
  auto const largest = std::ranges::max_element(
      values, [](auto const& a, auto const& b) { return std::abs(a.real) < std::abs(b.real); });
  values.erase(largest);
  out.set(0, fold_pairwise(values, [&](auto a, auto b) { return exact.add(a, b); }));
  EXPECT_FALSE(reference.verify("out", out).verified());
}
