// SPDX-License-Identifier: Apache-2.0
// Verification of large arrays of float32, computed in float by loops as a CPU program has them,
// from both sides: 2^16 elements, times $FATLINK_TEST_SCALE. A scale of 4096 takes 8 GB of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "plan_fixture.hpp"
#include "test_scale.hpp"

using namespace fatlink;
using namespace plan_fixture;

namespace {

std::size_t const k_float_elements = fixtures::scaled(1U << 16);

array_view view_of(std::vector<float> const& values)
{
  return {.type = type_of("float32"), .bytes = std::as_bytes(std::span(values))};
}

class LargeArrays : public testing::Test {
 protected:
  std::vector<float> in_ = [] {
    std::vector<float> values(k_float_elements);
    generated_elements(values.size(), 1)->fill(0, std::span(values));
    return values;
  }();

  [[nodiscard]] plan_reference reference_of(computation const& value, hook_reference const& hook,
                                            error_model model, std::uint64_t depth) const
  {
    return {plan_of(value),
            {transform_of({hook}, model)},
            {.arguments = {{"in", view_of(in_)}}, .depths = {{"out", depth}}}};
  }

  /// Expects that `out` is accepted, and refused after the middle element moved by `step`.
  static void expect_two_sided(plan_reference const& reference, std::vector<float> out, float step)
  {
    auto const accepted = reference.verify("out", view_of(out));
    EXPECT_TRUE(accepted.verified()) << accepted.reason << accepted.first_failure;
    EXPECT_EQ(accepted.unbounded, 0U);
    EXPECT_EQ(accepted.elements, out.size());
    auto const middle = out.size() / 2;
    out[middle] += step;
    auto const refused = reference.verify("out", view_of(out));
    EXPECT_EQ(refused.failures, 1U);
    EXPECT_EQ(refused.first_failure, middle);
    EXPECT_GT(step, refused.bound) << "the test is about steps above the bound";
  }
};

}  // namespace

TEST_F(LargeArrays, AreMapped)
{
  std::vector<float> out(in_.size());
  std::ranges::transform(in_, out.begin(), [](float x) { return std::fma(x, x, 1.0F); });
  expect_two_sided(
      reference_of(node(operation::map, "f", {argument("in")}),
                   hook_of("f", {"x"}, "x * x + 1", {.ulp = 0.5}), error_model::none, 1),
      out, 1e-5F);
}

TEST_F(LargeArrays, AreAddedPairwise)
{
  auto row = in_;
  std::size_t depth = 0;
  for (; row.size() > 1; ++depth) {
    for (std::size_t i = 0; i < row.size() / 2; ++i) row[i] = row[2 * i] + row[2 * i + 1];
    if (row.size() % 2 == 1) row[row.size() / 2] = row.back();
    row.resize((row.size() + 1) / 2);
  }
  // The bound is depth · 2^-24 · Σ|x|, and |x| is 4 on average.
  auto const step = 2 * static_cast<float>(depth) * 0x1p-24F * 4 * static_cast<float>(in_.size());
  expect_two_sided(reference_of(node(operation::fold, "add", {argument("in")}), k_add,
                                error_model::additive, depth),
                   row, step);
}

TEST_F(LargeArrays, AreAddedByStridedThreadsAndThenPairwise)
{
  constexpr std::size_t k_threads = 65536;  // at most, as 256 blocks of 256
  std::vector<float> sums(std::clamp<std::size_t>(in_.size() / 16, 1, k_threads));
  for (std::size_t i = 0; i < in_.size(); ++i) sums[i % sums.size()] += in_[i];
  auto depth = in_.size() / sums.size() + 1;
  for (; sums.size() > 1; ++depth) {
    for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] += sums[i + (sums.size() + 1) / 2];
    sums.resize((sums.size() + 1) / 2);
  }
  auto const step = 2 * static_cast<float>(depth) * 0x1p-24F * 4 * static_cast<float>(in_.size());
  expect_two_sided(reference_of(node(operation::fold, "add", {argument("in")}), k_add,
                                error_model::additive, depth),
                   sums, step);
}

TEST_F(LargeArrays, HaveOneMaximum)
{
  expect_two_sided(reference_of(node(operation::fold, "most", {argument("in")}),
                                hook_of("most", {"a", "b"}, "max(a, b)"), error_model::exact, 1),
                   {*std::ranges::max_element(in_)}, 1e-6F);
}

TEST_F(LargeArrays, AreScannedInRowsOfRows)
{
  constexpr std::size_t k_row = 4096;
  auto out = in_;
  float before = 0;
  float group = 0;  // of 4096 rows
  std::size_t rows = 0;
  for (std::size_t i = 0; i < out.size(); i += k_row, ++rows) {
    auto const end = std::min(out.size(), i + k_row);
    for (auto j = i + 1; j < end; ++j) out[j] += out[j - 1];
    auto const total = out[end - 1];
    for (auto j = i; j < end; ++j) out[j] += before + group;
    group += total;
    if (rows % k_row == k_row - 1) before += std::exchange(group, 0.0F);
  }
  auto const depth = 2 * k_row + in_.size() / (k_row * k_row) + 2;
  auto const step = 2 * static_cast<float>(depth) * 0x1p-24F * 4 * static_cast<float>(in_.size());
  expect_two_sided(reference_of(node(operation::scan, "add", {argument("in")}), k_add,
                                error_model::additive, depth),
                   out, step);
}

TEST_F(LargeArrays, AreFiltered)
{
  std::vector<float> out;
  std::ranges::copy_if(in_, std::back_inserter(out), [](float x) { return x > 7.5F; });
  expect_two_sided(reference_of(node(operation::filter, "keep", {argument("in")}),
                                hook_of("keep", {"x"}, "x > 7.5"), error_model::none, 1),
                   out, 1e-5F);
}

TEST_F(LargeArrays, AreSorted)
{
  auto out = in_;
  std::ranges::stable_sort(out);
  expect_two_sided(reference_of(node(operation::sort, "less", {argument("in")}),
                                hook_of("less", {"a", "b"}, "a < b"), error_model::none, 1),
                   out, 1.0F);
}

// The same of every type but float32.

namespace {

std::size_t const k_elements_of_each_type = fixtures::scaled(1U << 16);

class LargeArraysOf : public testing::TestWithParam<char const*> {
 protected:
  element_type const type_ = type_of(GetParam());
  scalar_kind const kind_ = type_.kind;
  arithmetic const arithmetic_{kind_};
  bool const is_integer_ = detail::is_integer(kind_);

  [[nodiscard]] detail::number load(array const& values, std::size_t index) const
  {
    return detail::load(kind_, values.bytes.data() + index * type_.size);
  }
  void store(array& values, std::size_t index, detail::number value) const
  {
    detail::store(kind_, value, values.at(index));
  }

  /// Generated elements; floats scaled so that Σ|x| is near 64 and no sum overflows.
  [[nodiscard]] array small() const
  {
    auto values = generated(type_, k_elements_of_each_type);
    if (is_integer_) return values;
    auto const scale = 16.0 / static_cast<double>(values.count());
    for (std::size_t i = 0; i < values.count(); ++i)
      store(values, i, {.real = load(values, i).real * scale});
    return values;
  }

  [[nodiscard]] plan_reference reference_of(array const& in, computation const& value,
                                            hook_reference const& hook, error_model model,
                                            std::uint64_t depth = 1) const
  {
    return {plan_of(value),
            {transform_of({hook}, model)},
            {.arguments = {{"in", in.view()}}, .depths = {{"out", depth}}}};
  }

  /// What is surely wrong where `right` may be off by `bound`.
  [[nodiscard]] detail::number beyond(detail::number right, double bound) const
  {
    if (is_integer_) return {.whole = right.whole ^ 1};
    auto const step = 2 * bound + 2 * detail::format_of(kind_).spacing_at(right.real);
    return arithmetic_.rounded({.real = right.real + (right.real > 0 ? -step : step)});
  }

  /// Sorts elements, whose bits `Bits` holds, by their numbers.
  template <typename Bits>
  void sort_bits(array& values) const
  {
    auto const number = [&](Bits const& bits) {
      return detail::load(kind_, reinterpret_cast<std::byte const*>(&bits));
    };
    auto const less = [&](Bits a, Bits b) {
      return is_integer_ ? number(a).whole < number(b).whole : number(a).real < number(b).real;
    };
    auto* const first = reinterpret_cast<Bits*>(values.bytes.data());
    std::stable_sort(first, first + values.count(), less);
  }
  void sort(array& values) const
  {
    switch (type_.size) {
      case 1:
        return sort_bits<std::uint8_t>(values);
      case 2:
        return sort_bits<std::uint16_t>(values);
      case 4:
        return sort_bits<std::uint32_t>(values);
      default:
        return sort_bits<std::uint64_t>(values);
    }
  }

  /// Expects that `out` is accepted, and refused if its middle element is NaN, or wrong by a little
  /// more than its bound.
  void expect_two_sided(plan_reference const& reference, array& out) const
  {
    auto const accepted = reference.verify("out", out);
    ASSERT_EQ(accepted.reason, "");
    ASSERT_TRUE(accepted.verified())
        << "element " << accepted.first_failure << " expected " << accepted.expected << " actual "
        << accepted.actual << " bound " << accepted.bound;
    EXPECT_EQ(accepted.unbounded, 0U);
    EXPECT_EQ(accepted.elements, out.count());
    auto const middle = out.count() / 2;
    auto const right = load(out, middle);
    double bound = 0;
    if (!is_integer_) {
      store(out, middle, {.real = std::nan("")});
      bound = expect_failure(reference, out, middle);
    }
    store(out, middle, beyond(right, bound));
    (void)expect_failure(reference, out, middle);
  }

  /// Expects that element `index` alone is refused; its bound.
  static double expect_failure(plan_reference const& reference, array const& out, std::size_t index)
  {
    auto const refused = reference.verify("out", out);
    EXPECT_EQ(refused.failures, 1U);
    EXPECT_EQ(refused.first_failure, index);
    return refused.bound;
  }
};

char const* const k_types_but_float32[] = {"float16", "bfloat16", "float64", "int8",
                                           "int16",   "int32",    "int64",   "uint8",
                                           "uint16",  "uint32",   "uint64"};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Every, LargeArraysOf, testing::ValuesIn(k_types_but_float32),
                         parameter_name);

TEST_P(LargeArraysOf, AreMapped)
{
  auto const in = generated(type_, k_elements_of_each_type);
  array out(type_, in.count());
  for (std::size_t i = 0; i < in.count(); ++i) {
    auto const x = load(in, i);
    // A sum that is rounded once, but for float64, whose reference rounds the product, too.
    auto const product =
        is_integer_ ? arithmetic_.multiply(x, x) : detail::number{.real = x.real * x.real};
    store(out, i, arithmetic_.add(product, {.real = 1, .whole = 1}));
  }
  auto const ulp = kind_ == scalar_kind::float64 ? 1.0 : is_integer_ ? 0.0 : 0.5;
  expect_two_sided(reference_of(in, node(operation::map, "f", {argument("in")}),
                                hook_of("f", {"x"}, "x * x + 1", {.ulp = ulp}), error_model::none),
                   out);
}

TEST_P(LargeArraysOf, AreAddedPairwise)
{
  auto const in = small();
  auto row = in;
  std::size_t depth = 0;
  for (auto count = row.count(); count > 1; count = (count + 1) / 2, ++depth) {
    for (std::size_t i = 0; i < count / 2; ++i)
      store(row, i, arithmetic_.add(load(row, 2 * i), load(row, 2 * i + 1)));
    if (count % 2 == 1) store(row, count / 2, load(row, count - 1));
  }
  row.bytes.resize(type_.size);
  expect_two_sided(reference_of(in, node(operation::fold, "add", {argument("in")}), k_add,
                                error_model::additive, depth),
                   row);
}

TEST_P(LargeArraysOf, HaveOneMaximum)
{
  auto const in = generated(type_, k_elements_of_each_type);
  auto most = load(in, 0);
  for (std::size_t i = 1; i < in.count(); ++i) most = arithmetic_.greater(most, load(in, i));
  array out(type_, 1);
  store(out, 0, most);
  expect_two_sided(reference_of(in, node(operation::fold, "most", {argument("in")}),
                                hook_of("most", {"a", "b"}, "max(a, b)"), error_model::exact),
                   out);
}

TEST_P(LargeArraysOf, AreScannedInRowsOfRows)
{
  constexpr std::size_t k_row = 1024;
  auto const in = small();
  auto out = in;
  detail::number before{};
  detail::number group{};  // of 1024 rows
  for (std::size_t i = 0, rows = 1; i < out.count(); i += k_row, ++rows) {
    auto const end = std::min(out.count(), i + k_row);
    for (auto j = i + 1; j < end; ++j)
      store(out, j, arithmetic_.add(load(out, j), load(out, j - 1)));
    auto const offset = arithmetic_.add(before, group);
    auto const total = load(out, end - 1);
    for (auto j = i; j < end; ++j) store(out, j, arithmetic_.add(load(out, j), offset));
    group = arithmetic_.add(group, total);
    if (rows % k_row == 0) before = arithmetic_.add(before, std::exchange(group, {}));
  }
  auto const depth = 2 * k_row + out.count() / (k_row * k_row) + 3;
  expect_two_sided(reference_of(in, node(operation::scan, "add", {argument("in")}), k_add,
                                error_model::additive, depth),
                   out);
}

TEST_P(LargeArraysOf, AreFiltered)
{
  auto const in = generated(type_, k_elements_of_each_type);
  array out(type_, in.count());
  std::size_t count = 0;
  for (std::size_t i = 0; i < in.count(); ++i)
    if (auto const x = load(in, i); x.real > 3) store(out, count++, x);
  out.bytes.resize(count * type_.size);
  expect_two_sided(reference_of(in, node(operation::filter, "keep", {argument("in")}),
                                hook_of("keep", {"x"}, "x > 3"), error_model::none),
                   out);
}

TEST_P(LargeArraysOf, AreSorted)
{
  auto const in = generated(type_, k_elements_of_each_type);
  auto out = in;
  sort(out);
  expect_two_sided(reference_of(in, node(operation::sort, "less", {argument("in")}),
                                hook_of("less", {"a", "b"}, "a < b"), error_model::none),
                   out);
}
