// SPDX-License-Identifier: Apache-2.0
// Every operation of "computes" in every type, from both sides: results that a processor computes
// in any order are accepted, and one element that is off by more than its bound is found. Arrays
// have up to 2^14 elements, times $FATLINK_TEST_SCALE.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "plan_fixture.hpp"
#include "test_scale.hpp"

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
