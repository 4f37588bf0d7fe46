// SPDX-License-Identifier: Apache-2.0
// Verification of large arrays of float32, computed in float by loops as a CPU program has them,
// from both sides: 2^16 elements, times $FATLINK_TEST_SCALE. A scale of 4096 takes 8 GB of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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
