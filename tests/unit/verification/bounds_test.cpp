// SPDX-License-Identifier: Apache-2.0
// Every operation of "computes" in every type, from both sides: results that a processor computes
// in any order are accepted, and one element that is off by more than its bound is found. Arrays
// have up to 2^14 elements, times $FATLINK_TEST_SCALE.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plan_fixture.hpp"
#include "plan_reference_fixture.hpp"
#include "test_scale.hpp"
#include "verification/plan_reference.hpp"

using namespace fatlink;
using namespace plan_fixture;

namespace {

constexpr hook_tolerance k_rounded{.ulp = 0.5};  // of a hook that rounds once

std::array<std::size_t, 5> const k_counts{1, 2, 3, 1000, fixtures::scaled(1U << 14)};

numbers numbers_of(array const& values)
{
  numbers list(values.count());
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = values.get(i);
  return list;
}

class ErrorBounds : public testing::TestWithParam<char const*> {
 protected:
  element_type const type_ = type_of(GetParam());
  scalar_kind const kind_ = type_.kind;
  arithmetic const arithmetic_{kind_};

  [[nodiscard]] operation_of_two adder() const
  {
    return [this](auto a, auto b) { return arithmetic_.add(a, b); };
  }

  /// Element `index` moved up by twice the bound and a little.
  [[nodiscard]] detail::number beyond(detail::number value, double bound) const
  {
    if (detail::is_integer(kind_)) return {.whole = value.whole ^ 1};
    auto const step = 2 * bound + 2 * detail::format_of(kind_).spacing_at(value.real);
    return arithmetic_.rounded({.real = value.real + (value.real > 0 ? -step : step)});
  }

  /// Expects that `out` is accepted, and that each of some elements is found if it is wrong.
  void expect_two_sided(plan_reference const& reference, array out, std::string const& what) const
  {
    auto const accepted = reference.verify("out", out);
    ASSERT_EQ(accepted.reason, "") << what;
    ASSERT_TRUE(accepted.verified())
        << what << ": element " << accepted.first_failure << " expected " << accepted.expected
        << " actual " << accepted.actual << " bound " << accepted.bound;
    EXPECT_EQ(accepted.elements, out.count()) << what;
    if (accepted.unbounded != 0) return;  // a long chain of calls in a short type
    std::vector<std::size_t> indices{out.count() / 2};
    if (out.count() <= 1000) indices = {0, out.count() / 2, out.count() - 1};
    for (auto const index : indices) {
      auto const right = out.get(index);
      auto wrong = out;
      wrong.set(index, beyond(right, bound_at(reference, out, index)));
      auto const refused = reference.verify("out", wrong);
      EXPECT_EQ(refused.failures, 1U) << what << ", element " << index;
      EXPECT_EQ(refused.first_failure, index) << what;
    }
  }

  /// The bound of an element: that of the failure where it is NaN, or not the integer.
  [[nodiscard]] double bound_at(plan_reference const& reference, array out, std::size_t index) const
  {
    if (detail::is_integer(kind_)) return 0;
    out.set(index, std::nan(""));
    return reference.verify("out", out).bound;
  }

  [[nodiscard]] static plan_reference reference_for(computation const& value,
                                                    transform_reference const& transform,
                                                    array const& in,
                                                    std::optional<std::uint64_t> depth = {})
  {
    plan_data data{.arguments = {{"in", in.view()}}};
    if (depth) data.depths["out"] = *depth;
    return {plan_of(value), {transform}, std::move(data)};
  }
};

char const* const k_floats[] = {"float16", "bfloat16", "float32", "float64"};
char const* const k_numbers[] = {"float16", "bfloat16", "float32", "float64", "int8",   "int16",
                                 "int32",   "int64",    "uint8",   "uint16",  "uint32", "uint64"};

class FloatBounds : public ErrorBounds {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Every, ErrorBounds, testing::ValuesIn(k_numbers), parameter_name);
INSTANTIATE_TEST_SUITE_P(Every, FloatBounds, testing::ValuesIn(k_floats), parameter_name);

TEST_P(ErrorBounds, OfAMapOfProductsAndSums)
{
  auto const ulp = detail::is_integer(kind_) ? 0.0 : kind_ == scalar_kind::float64 ? 3.0 : 2.0;
  auto const transform = transform_of({hook_of("f", {"x"}, "x * x + x", {.ulp = ulp})});
  for (auto const count : k_counts) {
    auto const in = generated(type_, count);
    array out(type_, count);
    for (std::size_t i = 0; i < count; ++i) {
      auto const x = in.get(i);
      // As a fused multiply-add: near -1 a rounded product would be off by many spacings.
      auto const product = detail::is_integer(kind_) ? arithmetic_.multiply(x, x)
                                                     : detail::number{.real = x.real * x.real};
      out.set(i, arithmetic_.add(product, x));
    }
    expect_two_sided(reference_for(node(operation::map, "f", {argument("in")}), transform, in), out,
                     std::to_string(count));
  }
}

TEST_P(ErrorBounds, OfAMapWithinAMap)
{
  auto const transform = transform_of(
      {hook_of("load", {"x"}, "x + 1", k_rounded), hook_of("store", {"x"}, "3 * x", k_rounded)});
  auto hooks = transform;
  for (auto& hook : hooks.hooks) hook.type = type_;
  auto const value =
      node(operation::map, "store", {node(operation::map, "load", {argument("in")})});
  for (auto const count : k_counts) {
    auto const in = generated(type_, count);
    array out(type_, count);
    for (std::size_t i = 0; i < count; ++i)
      out.set(i, arithmetic_.multiply({.real = 3, .whole = 3},
                                      arithmetic_.add(in.get(i), {.real = 1, .whole = 1})));
    expect_two_sided(reference_for(value, hooks, in), out, std::to_string(count));
  }
}

TEST_P(ErrorBounds, OfSumsInEveryOrder)
{
  auto const transform =
      transform_of({hook_of("add", {"a", "b"}, "a + b", k_rounded)}, error_model::additive);
  auto const value = node(operation::fold, "add", {argument("in")});
  for (auto const count : k_counts) {
    auto const in = generated(type_, count);
    auto const values = numbers_of(in);
    for (auto const& order : k_orders) {
      array out(type_, 1);
      out.set(0, order.fold(values, adder()));
      expect_two_sided(reference_for(value, transform, in, order.depth(count)), out,
                       order.name + std::string(", ") + std::to_string(count));
    }
  }
}

TEST_P(ErrorBounds, OfSumsThatAreComputedPairwise)
{
  auto const transform =
      transform_of({hook_of("add", {"a", "b"}, "a + b + 0", k_rounded)}, error_model::additive);
  auto const value = node(operation::fold, "add", {argument("in")});
  auto const in = generated(type_, 100'000);
  auto const values = numbers_of(in);
  for (auto const& order : k_orders) {
    array out(type_, 1);
    out.set(0, order.fold(values, adder()));
    expect_two_sided(reference_for(value, transform, in, order.depth(in.count())), out, order.name);
  }
}

TEST_P(ErrorBounds, OfMaximaWhichAreExact)
{
  auto const transform =
      transform_of({hook_of("most", {"a", "b"}, "max(a, b)")}, error_model::exact);
  auto const value = node(operation::fold, "most", {argument("in")});
  for (auto const count : k_counts) {
    auto const in = generated(type_, count);
    array out(type_, 1);
    out.set(0, fold_in_sequence(numbers_of(in),
                                [&](auto a, auto b) { return arithmetic_.greater(a, b); }));
    expect_two_sided(reference_for(value, transform, in), out, std::to_string(count));
  }
}

TEST_P(FloatBounds, OfProductsInEveryOrder)
{
  auto const transform =
      transform_of({hook_of("times", {"a", "b"}, "a * b", k_rounded)}, error_model::relative);
  auto const value = node(operation::fold, "times", {argument("in")});
  for (std::size_t const count : {1, 2, 3, 100, 1000}) {
    array in(type_, count);
    for (std::size_t i = 0; i < count; ++i) in.set(i, i % 2 == 0 ? 1.25 : 0.8125);
    for (auto const& order : k_orders) {
      array out(type_, 1);
      out.set(0, order.fold(numbers_of(in),
                            [&](auto a, auto b) { return arithmetic_.multiply(a, b); }));
      expect_two_sided(reference_for(value, transform, in), out,
                       order.name + std::string(", ") + std::to_string(count));
    }
  }
}

TEST_P(ErrorBounds, OfScans)
{
  auto const transform =
      transform_of({hook_of("add", {"a", "b"}, "a + b", k_rounded)}, error_model::additive);
  auto const value = node(operation::scan, "add", {argument("in")});
  for (auto const count : k_counts) {
    auto const in = generated(type_, count);
    array out(type_, count);
    // As kernels do: rows of 1024 and their offsets.
    detail::number before{};
    for (std::size_t i = 0; i < count;) {
      detail::number row = in.get(i);
      for (auto const end = std::min(count, i + 1024); i < end; ++i) {
        if (i % 1024 != 0) row = arithmetic_.add(row, in.get(i));
        out.set(i, i < 1024 ? row : arithmetic_.add(before, row));
      }
      before = out.get(i - 1);
    }
    auto const depth = 1024 + count / 1024 + 1;
    expect_two_sided(reference_for(value, transform, in, depth), out, std::to_string(count));
  }
}

TEST_P(ErrorBounds, OfSegmentedSums)
{
  auto const transform =
      transform_of({hook_of("add", {"a", "b"}, "a + b", k_rounded)}, error_model::additive);
  auto const value = node(operation::segmented_fold, "add",
                          {argument("in"), argument("offsets"), argument("init")});
  for (auto const count : k_counts) {
    auto const in = generated(type_, count);
    std::vector<std::size_t> places{0, 0};
    while (places.back() < count)
      places.push_back(std::min(count, places.back() + 1 + places.size() * 7 % 300));
    array const offsets(type_of("uint32"), places);
    array const init(type_, std::vector<double>{3});
    array out(type_, places.size() - 1);
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      auto sum = init.get(0);
      for (auto j = places[i]; j < places[i + 1]; ++j) sum = arithmetic_.add(sum, in.get(j));
      out.set(i, sum);
    }
    plan_data const data{.arguments = {{"in", in}, {"offsets", offsets}, {"init", init}}};
    expect_two_sided({plan_of(value), {transform}, data}, out, std::to_string(count));
  }
}

TEST_P(ErrorBounds, OfFilters)
{
  auto const transform = transform_of({hook_of("keep", {"x"}, "x > 1")});
  auto const value = node(operation::filter, "keep", {argument("in")});
  for (auto const count : k_counts) {
    if (count < 100) continue;
    auto const in = generated(type_, count);
    array out(type_, 0);
    for (std::size_t i = 0; i < count; ++i)
      if (in.get(i).real > 1)
        out.bytes.insert(out.bytes.end(),
                         in.bytes.begin() + static_cast<std::ptrdiff_t>(i * type_.size),
                         in.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * type_.size));
    auto const reference = reference_for(value, transform, in);
    expect_two_sided(reference, out, std::to_string(count));
    auto shorter = out;
    shorter.bytes.resize(out.bytes.size() - type_.size);
    EXPECT_EQ(reference.verify("out", shorter).failures, 1U);
    auto const number =
        reference_for(node(operation::count, "keep", {argument("in")}), transform, in);
    array total(type_of("uint64"), std::vector<std::size_t>{out.count()});
    EXPECT_TRUE(number.verify("out", total).verified());
    total.set(0, static_cast<double>(out.count() + 1));
    EXPECT_FALSE(number.verify("out", total).verified());
  }
}

TEST_P(ErrorBounds, OfSorts)
{
  auto const transform = transform_of({hook_of("less", {"a", "b"}, "a < b")});
  auto const value = node(operation::sort, "less", {argument("in")});
  for (auto const count : k_counts) {
    auto const in = generated(type_, count);
    auto values = numbers_of(in);
    std::ranges::stable_sort(values, [&](auto const& a, auto const& b) {
      return detail::is_integer(kind_) ? a.whole < b.whole : a.real < b.real;
    });
    array out(type_, count);
    for (std::size_t i = 0; i < count; ++i) out.set(i, values[i]);
    expect_two_sided(reference_for(value, transform, in), out, std::to_string(count));
  }
}

// The bounds of what references compute: of complex numbers, of nested maps, by operands.

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
