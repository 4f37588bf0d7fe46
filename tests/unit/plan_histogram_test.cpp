// SPDX-License-Identifier: Apache-2.0
// Histograms of "computes": bins of integers and floats, and elements near the edge of a bin.
#include <cmath>

#include "plan_reference_fixture.hpp"
#include "verification/plan_reference.hpp"

using namespace fatlink;
using namespace plan_fixture;

TEST(PlanReference, OfAHistogramCountsTheElementsOfEachBin)
{
  auto const in = floats({-1, 0, 0.5, 1, 1.5, 3.75, 4, 100, std::nan("")});
  array const bins(type_of("int64"), std::vector<int>{4});
  auto const reference =
      reference_of(node(operation::histogram, "bin", {argument("in"), argument("bins")}),
                   transform_of({hook_of("bin", {"x"}, "x")}), {{"in", in}, {"bins", bins}});
  array out(type_of("uint64"), std::vector<int>{4, 2, 0, 1});  // -1 and NaN are in bin 0
  expect_verified(reference, out);
  out.set(1, 3.0);
  auto const wrong = reference.verify("out", out);
  EXPECT_EQ(wrong.first_failure, 1U);
  EXPECT_EQ(wrong.expected, "2");
  EXPECT_EQ(wrong.bound, 0);
}

TEST(PlanReference, OfAHistogramOfIntegersWraps)
{
  array const in(k_int, std::vector<int>{0, 1, 2, 3, -1, -4});
  array const bins(type_of("int64"), std::vector<int>{2});
  auto const of = [&](char const* expression) {
    return reference_of(node(operation::histogram, "bin", {argument("in"), argument("bins")}),
                        transform_of({hook_of("bin", {"x"}, expression)}),
                        {{"in", in}, {"bins", bins}});
  };
  expect_verified(of("x"), array(type_of("uint32"), std::vector<int>{1, 1}));
  expect_verified(of("bit_and(x, 1)"), array(type_of("uint32"), std::vector<int>{3, 3}));
}

TEST(PlanReference, OfAHistogramAllowsForElementsNearTheEdgeOfABin)
{
  auto const in = floats({0.5, 0.999, 1.001, 1.5, 2.5});
  array const bins(type_of("int64"), std::vector<int>{3});
  auto const reference = reference_of(
      node(operation::histogram, "bin", {argument("in"), argument("bins")}),
      transform_of({hook_of("bin", {"x"}, "x", {.absolute = 0.01})}), {{"in", in}, {"bins", bins}});
  array out(type_of("uint64"), std::vector<int>{2, 2, 1});
  for (auto const& counts : {std::vector{2, 2, 1}, std::vector{3, 1, 1}, std::vector{1, 3, 1}})
    expect_verified(reference, array(out.type, counts));
  EXPECT_EQ(reference.verify("out", array(out.type, std::vector{2, 2, 2})).first_failure, 2U);
  EXPECT_EQ(reference.verify("out", array(out.type, std::vector{5, 2, 1})).first_failure, 0U);
}

TEST(PlanReference, SaysWhyHistogramsHaveNoExpectedValue)
{
  auto const in = floats({1, 2, 3});
  array const bins(type_of("int64"), std::vector<int>{3});
  auto const of = [&](computation elements, transform_reference transform) {
    return reference_of(node(operation::histogram, "f", {std::move(elements), argument("bins")}),
                        std::move(transform), {{"in", in}, {"bins", bins}});
  };
  auto const identity = transform_of({hook_of("f", {"x"}, "x")});
  expect_reason(of(node(operation::map, "f", {argument("in")}), identity), array(k_int, 3),
                "histogram of computed elements cannot be verified, only of an argument");
  expect_reason(of(argument("in"), identity), floats({0, 0, 0}),
                "the output is float32, and integers are counted");
  expect_reason(
      of(argument("in"),
         transform_of({{.hook = "f", .parameters = {"x"}, .result = {{"a", "x"}, {"b", "x"}}}})),
      array(k_int, 3), "the hook f has several results, not the number of a bin");
}
