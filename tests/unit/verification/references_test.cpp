// SPDX-License-Identifier: Apache-2.0
// What "computes" means, for operands of every kind; bounds_test.cpp has every type.
#include <algorithm>
#include <cmath>

#include "expect_error.hpp"
#include "plan_reference_fixture.hpp"
#include "verification/plan_reference.hpp"

using namespace fatlink;
using namespace plan_fixture;

namespace {

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

TEST(PlanReference, OfAFoldOfNoElementsIsTheInitialValue)
{
  auto const none = floats({});
  auto const scale = floats({2});
  auto const init = floats({5});
  auto const elements = node(operation::map, "f", {argument("in"), argument("scale")});
  auto const reference = reference_of(
      node(operation::fold, "add", {elements, argument("init")}),
      transform_of({hook_of("f", {"x", "s"}, "s * x"), hook_of("add", {"a", "b"}, "a + b")},
                   error_model::additive),
      {{"in", none}, {"scale", scale}, {"init", init}});
  expect_verified(reference, floats({5}));
  EXPECT_EQ(reference.verify("out", floats({4})).expected, "5");
  auto const without = reference_of(
      node(operation::fold, "add", {elements}),
      transform_of({hook_of("f", {"x", "s"}, "s * x"), hook_of("add", {"a", "b"}, "a + b")},
                   error_model::additive),
      {{"in", none}, {"scale", scale}});
  expect_reason(without, floats({0}), "a fold of no elements has no value");
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

TEST(PlanReference, OfManyElementsIsThatOfEach)
{
  constexpr int k_count = 1000;  // some blocks, and a part of one
  constexpr int k_left = -150;
  constexpr int k_right = 5;
  constexpr double k_error = 0.5;
  std::vector<double> in(k_count);
  for (int i = 0; i < k_count; ++i) in[static_cast<std::size_t>(i)] = i % 97;
  auto const doubled = node(operation::map, "double", {argument("in")});
  auto const values = floats(in);
  auto const reference = reference_of(
      node(operation::map, "f",
           {neighbor(doubled, k_left), neighbor(argument("in"), k_right), index_operand()}),
      transform_of({hook_of("double", {"x"}, "2 * x", {.ulp = 0, .absolute = k_error}),
                    hook_of("f", {"l", "r", "i"}, "i % 2 == 0 ? 3 * l + i : 3 * r - i")}),
      {{"in", values}});
  auto const at = [&](int i) {
    return in[static_cast<std::size_t>(std::clamp(i, 0, k_count - 1))];
  };
  std::vector<double> expected(k_count);
  for (int i = 0; i < k_count; ++i)
    expected[static_cast<std::size_t>(i)] =
        i % 2 == 0 ? 6 * at(i + k_left) + i : 3 * at(i + k_right) - i;
  expect_verified(reference, floats(expected));
  for (std::size_t const place : {0, 126, 127, 128, 129, 500, 998, 999}) {
    auto const bound = place % 2 == 0 ? 3 * k_error : 0;  // what an error of `double` moves
    auto off = expected;
    off[place] += bound;
    expect_verified(reference, floats(off));
    off[place] += 1;
    auto const wrong = reference.verify("out", floats(off));
    EXPECT_EQ(wrong.failures, 1U) << place;
    EXPECT_EQ(wrong.first_failure, place);
    EXPECT_EQ(wrong.bound, bound);
  }
}

TEST(PlanReference, OfStructsWithManyFieldsIsThatOfEach)
{
  constexpr std::size_t k_fields = 600;  // so that a block has one element
  constexpr std::size_t k_count = 5;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < k_fields; ++i) names.push_back("f" + std::to_string(i));
  array in(record_type("wide", names, std::vector(k_fields, k_float)), k_count);
  std::vector<double> expected;
  for (std::size_t i = 0; i < k_count; ++i) {
    in.set(i, 10.0 + static_cast<double>(i), 0);
    in.set(i, 2.0, k_fields - 1);
    expected.push_back(20.0 + 2 * static_cast<double>(i));
  }
  auto const reference =
      reference_of(node(operation::map, "f", {argument("in")}),
                   transform_of({hook_of("f", {"x"}, "x.f0 * x.f599")}), {{"in", in}});
  expect_verified(reference, floats(expected));
  expected.back() += 1;
  EXPECT_EQ(reference.verify("out", floats(expected)).first_failure, k_count - 1);
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

TEST(PlanReference, OfValuesThatMoveWithTheirKeysHasTheOrderOfTheKeys)
{
  auto const keys = floats({3, 1, 2, 1});
  array const values(k_int, std::vector<int>{10, 11, 12, 13});
  auto const reference = reference_of(
      node(operation::sort, "less", {argument("in"), argument("values")}),
      transform_of({hook_of("less", {"a", "b"}, "a < b")}), {{"in", keys}, {"values", values}});
  expect_verified(reference, array(k_int, std::vector<int>{11, 13, 12, 10}));
  EXPECT_EQ(reference.verify("out", array(k_int, std::vector<int>{13, 11, 12, 10})).failures, 2U);
}

namespace {

/// A sort by the `bits` lower bits of the key of the transform `name`, whose reference is `key`.
/// `keys` must outlive the result.
auto sorted_by_bits(array const& keys, std::int64_t bits, char const* name, char const* key,
                    std::vector<computation> const& moved = {})
{
  static array size(type_of("int64"), 1);
  size.set(0, static_cast<double>(bits));
  std::vector<computation> operands{argument("in")};
  operands.insert(operands.end(), moved.begin(), moved.end());
  operands.push_back(node(operation::low_bits, "", {argument("bits")}));
  auto transform = transform_of({hook_of("key", {"x"}, key)});
  transform.name = name;
  return reference_of(node(operation::sort_by, "key", operands), transform,
                      {{"in", keys}, {"bits", size}});
}

}  // namespace

TEST(PlanReference, OfSortsByLowBitsOfKeysHasTheOrderOfTheseBits)
{
  array const keys(k_int, std::vector<int>{0x1FF, 0x200, -1, 0x101, -256, 0x001});
  expect_verified(sorted_by_bits(keys, 7, "ascending_int32", "x"),  // rounded up to 8
                  array(k_int, std::vector<int>{0x200, -256, 0x101, 0x001, 0x1FF, -1}));
  expect_verified(sorted_by_bits(keys, 7, "ascending_int32", "x", {index_operand()}),
                  array(k_int, std::vector<int>{1, 4, 3, 5, 0, 2}));
  expect_verified(sorted_by_bits(keys, 7, "descending_int32", "-x"),
                  array(k_int, std::vector<int>{0x1FF, -1, 0x101, 0x001, 0x200, -256}));
}

TEST(PlanReference, OfSortsByLowBitsOfKeysIsRefusedWhereOnlyTheOrderOfTheKeysIsKnown)
{
  array const keys(k_int, 3);
  for (auto const& [name, key] : {std::pair{"t", "x"},
                                  {"t", "-x"},
                                  {"ascending_int32", "-x"},
                                  {"descending_int32", "x"},
                                  {"ascending_uint32", "x"},
                                  {"ascending_int32", "x + 1"}})
    expect_reason(sorted_by_bits(keys, 8, name, key), keys,
                  "the reference of key states the order of the keys, not their lower 8 bits, "
                  "which are known only for ascending_T and descending_T of integers");
  array const records(k_best, 3);
  expect_reason(sorted_by_bits(records, 32, "t", "x.index"), records,
                "the reference of key states the order of the keys, not their lower 32 bits, "
                "which are known only for ascending_T and descending_T of integers");
}

TEST(PlanReference, OfSortsByAllBitsOfElementsHasTheOrderOfTheReference)
{
  array records(k_best, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    records.set(i, -static_cast<double>(i), 0);
    records.set(i, 2 - static_cast<double>(i), 1);
  }
  for (auto const* key : {"x.value", "x.index"})
    expect_verified(sorted_by_bits(records, 64, "t", key, {index_operand()}),
                    array(k_int, std::vector<int>{2, 1, 0}));
}

TEST(PlanReference, OfAnExclusiveScanBeginsWithTheInitialValue)
{
  array in(k_int, 3000);
  array expected(k_int, in.count());
  double sum = 5;
  for (std::size_t i = 0; i < in.count(); ++i) {
    in.set(i, static_cast<double>(i));
    expected.set(i, sum);
    sum += static_cast<double>(i);
  }
  array const init(k_int, std::vector<int>{5});
  auto const reference = reference_of(
      node(operation::exclusive_scan, "add", {argument("in"), argument("init")}),
      transform_of({hook_of("add", {"a", "b"}, "a + b")}), {{"in", in}, {"init", init}});
  expect_verified(reference, expected);
  expected.set(2000, 0.0);
  EXPECT_EQ(reference.verify("out", expected).first_failure, 2000U);
}

TEST(PlanReference, OfAnExclusiveScanKeepsTheOrder)
{
  array in(k_int, 40000);
  array expected(k_int, in.count());
  for (std::size_t i = 0; i < in.count(); ++i) {
    in.set(i, static_cast<double>(i));
    expected.set(i, static_cast<double>(i) - 1);
  }
  array const init(k_int, std::vector<int>{-1});
  expect_verified(
      reference_of(node(operation::exclusive_scan, "last", {argument("in"), argument("init")}),
                   transform_of({hook_of("last", {"a", "b"}, "b + 0 * a")}),
                   {{"in", in}, {"init", init}}),
      expected);
}

TEST(PlanReference, OfRejectedElementsHasThoseThatAFilterLeavesOut)
{
  auto const in = floats({3, -1, 4, -1, 5, -9});
  auto const reference =
      reference_of(node(operation::rejected, "keep", {argument("in")}),
                   transform_of({hook_of("keep", {"x"}, "x > 0")}), {{"in", in}});
  expect_verified(reference, floats({-1, -1, -9, 7, 8, 9}));
  EXPECT_EQ(reference.verify("out", floats({-1, -9, -1})).first_failure, 1U);
}

// Histograms of "computes": bins of integers and floats, and elements near the edge of a bin.

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
  expect_reason(of(argument("in"), identity), floats({0, 0, 0}),
                "the output is float32, and integers are counted");
  expect_reason(
      of(argument("in"),
         transform_of({{.hook = "f", .parameters = {"x"}, .result = {{"a", "x"}, {"b", "x"}}}})),
      array(k_int, 3), "the hook f has several results, not the number of a bin");
}

// Elements that a hook computes before they are selected or counted.

namespace {

/// 10 x of int32, and `hook`, which uses these numbers.
transform_reference tens_and(hook_reference hook, hook_tolerance tolerance = {})
{
  auto tens = hook_of("tens", {"x"}, "10 * x", tolerance);
  tens.type = k_int;
  return transform_of({std::move(hook), std::move(tens)});
}

computation tens_of_in()
{
  return node(operation::map, "tens", {argument("in")});
}

}  // namespace

TEST(PlanReference, OfComputedElementsThatAreSelected)
{
  array const in(k_int, std::vector<int>{3, 1, 2});
  auto const above = tens_and(hook_of("keep", {"x"}, "x > 15"));
  expect_verified(
      reference_of(node(operation::filter, "keep", {tens_of_in()}), above, {{"in", in}}),
      array(k_int, std::vector<int>{30, 20}));
  expect_verified(reference_of(node(operation::count, "keep", {tens_of_in()}), above, {{"in", in}}),
                  array(type_of("uint64"), std::vector<int>{2}));
  array const bins(type_of("int64"), {31});
  std::vector<int> counts(31);
  counts[10] = counts[20] = counts[30] = 1;
  expect_verified(reference_of(node(operation::histogram, "bin", {tens_of_in(), argument("bins")}),
                               tens_and(hook_of("bin", {"x"}, "x")), {{"in", in}, {"bins", bins}}),
                  array(type_of("uint64"), counts));
  expect_verified(reference_of(node(operation::sort, "less", {tens_of_in()}),
                               tens_and(hook_of("less", {"a", "b"}, "a < b")), {{"in", in}}),
                  array(k_int, std::vector<int>{10, 20, 30}));
}

TEST(PlanReference, OfComputedElementsIsWrongWhereOneDiffers)
{
  array const in(k_int, std::vector<int>{3, 1, 2});
  auto const reference = reference_of(node(operation::filter, "keep", {tens_of_in()}),
                                      tens_and(hook_of("keep", {"x"}, "x > 15")), {{"in", in}});
  EXPECT_EQ(reference.verify("out", array(k_int, std::vector<int>{30, 2})).first_failure, 1U);
}

TEST(PlanReference, SaysWhyComputedElementsCannotBeSelected)
{
  array const in(k_int, std::vector<int>{3, 1, 2});
  auto const selected = node(operation::filter, "keep", {tens_of_in()});
  auto const keep = hook_of("keep", {"x"}, "x > 15");
  expect_reason(reference_of(selected, tens_and(keep, {.absolute = 1}), {{"in", in}}), in,
                "filter cannot be verified, because map(tens, in) has a tolerance");
  auto const struct_of = transform_of(
      {keep, {.hook = "tens", .parameters = {"x"}, .result = {{"a", "x"}, {"b", "x"}}}});
  expect_reason(reference_of(selected, struct_of, {{"in", in}}), in,
                "filter of computed structs cannot be verified");
}

// Outputs that cannot be verified, and references that do not fit.

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

namespace {

auto const k_statistics = record_type("statistics", {"total", "most"}, {k_float, k_float});

/// A fold of 1000 statistics by the hook with this expression for "most".
plan_reference statistics_reference(array const& in, char const* most,
                                    error_model model = error_model::additive)
{
  return reference_of(node(operation::fold, "f", {argument("in")}),
                      transform_of({{.hook = "f",
                                     .parameters = {"a", "b"},
                                     .result = {{"total", "a.total + b.total"}, {"most", most}},
                                     .tolerance = {.ulp = 0.5}}},
                                   model),
                      {{"in", in}});
}

array statistics(std::size_t count)
{
  array values(k_statistics, count);
  for (std::size_t i = 0; i < count; ++i) {
    values.set(i, 0.5, 0);
    values.set(i, i == count / 2 ? 2.0 : 1.0, 1);
  }
  return values;
}

}  // namespace

TEST(PlanReference, OfFoldsBoundsEachFieldByWhatItsExpressionDoes)
{
  auto const in = statistics(1000);
  array out(k_statistics, 1);
  for (auto const* const most :
       {"max(a.most, b.most)", "a.most > b.most ? a.most : b.most",
        "a.most >= b.most && -a.most != 3 ? max(a.most, b.most) : b.most"}) {
    auto const reference = statistics_reference(in, most);
    out.set(0, 500 * (1 + 0x1p-22), 0);  // a sum that was rounded often
    out.set(0, 2.0, 1);
    expect_verified(reference, out);
    out.set(0, 2 * (1 + 0x1p-22), 1);  // nothing rounds a maximum
    auto const wrong = reference.verify("out", out);
    EXPECT_EQ(wrong.failures, 1U) << most;
    EXPECT_EQ(wrong.component, "most");
  }
}

TEST(PlanReference, OfFoldsAllowsRoundingWhereAChoiceDependsOnRoundedNumbers)
{
  auto const in = statistics(1000);
  array out(k_statistics, 1);
  out.set(0, 500.0, 0);
  for (auto const* const most : {"a.total > b.total ? a.most : b.most", "max(a.most, b.most) + 0",
                                 "a.most * 0.1 > b.most * 0.1 ? a.most : b.most"}) {
    auto const reference = statistics_reference(in, most);
    out.set(0,
            reference.expected_text("out", out, 1).front().find("most: 2") != std::string::npos
                ? 2.0
                : 1.0,
            1);
    expect_verified(reference, out);
    out.set(0, out.get(0, 1).real * (1 + 0x1p-22), 1);
    expect_verified(reference, out);
  }
}

TEST(PlanReference, RefusesFieldsThatAddByTheErrorModelOfAnotherOperation)
{
  auto const in = statistics(3);
  for (auto const model : {error_model::exact, error_model::relative})
    expect_error<file_error>(
        [&] {
          (void)statistics_reference(in, "max(a.most, b.most)", model).verify("out", statistics(1));
        },
        "t.json: hook f: adds the floats total, and \"error_model\" is");
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
