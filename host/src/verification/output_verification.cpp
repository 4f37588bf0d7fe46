// SPDX-License-Identifier: Apache-2.0
#include "verification/output_verification.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "util/process/parallel.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using detail::number;

constexpr double k_infinite = std::numeric_limits<double>::infinity();

/// |actual − expected| of floats of a format whose numbers from `overflow` on round to infinity;
/// infinite where no bound can cover it. An infinite actual value counts as `range`, the power of
/// two after the greatest finite number.
double distance_of_floats(double overflow, double range, double expected, double actual)
{
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual) ? 0 : k_infinite;
  if (std::isinf(actual)) {
    if (std::abs(expected) >= overflow)
      return std::signbit(actual) == std::signbit(expected) ? 0 : k_infinite;
    actual = std::copysign(range, actual);
  }
  if (std::isinf(expected)) return k_infinite;
  return std::abs(actual - expected);
}

/// A power of two that exceeds every number of the kind.
double range_of(scalar_kind kind)
{
  if (kind == scalar_kind::bytes) return 256;
  if (detail::is_integer(kind)) return std::ldexp(1.0, 8 * static_cast<int>(detail::size_of(kind)));
  return std::ldexp(2.0, detail::format_of(kind).most_exponent);
}

}  // namespace

std::optional<double> output_verification::max_ulp() const noexcept
{
  if (!tolerance_ulp) return std::nullopt;
  if (*tolerance_ulp > 0) return max_ratio * *tolerance_ulp;
  return exact_ulp;
}

output_verification& output_verification::operator+=(output_verification const& other)
{
  if (other.failures != 0 && (failures == 0 || other.first_failure < first_failure)) {
    first_failure = other.first_failure;
    component = other.component;
    expected = other.expected;
    actual = other.actual;
    bound = other.bound;
  }
  if (other.worst && (!worst || std::pair(worst->ratio, worst->error) <
                                    std::pair(other.worst->ratio, other.worst->error)))
    worst = other.worst;
  elements += other.elements;
  failures += other.failures;
  unbounded += other.unbounded;
  max_abs_error = std::max(max_abs_error, other.max_abs_error);
  max_ratio = std::max(max_ratio, other.max_ratio);
  exact_ulp = std::max(exact_ulp, other.exact_ulp);
  if (!tolerance_ulp) tolerance_ulp = other.tolerance_ulp;
  return *this;
}

namespace detail {

output_comparison::output_comparison(array_view const& actual, components const& parts)
    : actual_(actual), parts_(parts)
{
  for (auto const& part : parts)
    ranges_.push_back({.is_whole = is_integer(part.kind) || part.kind == scalar_kind::bytes,
                       .range = range_of(part.kind),
                       .overflow = format_of(part.kind).overflow()});
}

double output_comparison::number_range::distance(number const& expected,
                                                 number const& actual) const noexcept
{
  if (!is_whole) return distance_of_floats(overflow, range, expected.real, actual.real);
  return std::abs(static_cast<double>(actual.whole - expected.whole));
}

bool output_comparison::number_range::accepts_all(number const& expected,
                                                  double bound) const noexcept
{
  if (bound < range) return false;
  if (is_whole) return true;
  return std::isfinite(expected.real) && std::abs(expected.real) - bound <= range;
}

bool output_comparison::is_missing(std::size_t index)
{
  ++summary_.elements;
  if (index < actual_.count()) return false;
  if (summary_.failures++ == 0) {
    summary_.first_failure = index;
    summary_.expected = "an element";
    summary_.actual = detail::format("none: the output has {}", actual_.count());
  }
  return true;
}

void output_comparison::record(std::size_t index, mismatch const& first)
{
  if (!first.is_wrong || summary_.failures++ != 0) return;
  auto const& part = parts_[first.part];
  summary_.first_failure = index;
  summary_.component = part.name;
  summary_.expected = to_text(part.kind, first.expected);
  summary_.actual = to_text(part.kind, first.actual);
  summary_.bound = first.bound;
}

void output_comparison::note_worst(mismatch const& wrong)
{
  if (!worst_.is_wrong ||
      std::pair(worst_.ratio, worst_.error) < std::pair(wrong.ratio, wrong.error))
    worst_ = wrong;
}

output_verification output_comparison::summary() const
{
  auto result = summary_;
  if (!worst_.is_wrong) return result;
  auto const& part = parts_[worst_.part];
  result.worst = worst_element{.index = worst_.index,
                               .component = part.name,
                               .expected = to_text(part.kind, worst_.expected),
                               .actual = to_text(part.kind, worst_.actual),
                               .error = worst_.error,
                               .ratio = worst_.ratio};
  return result;
}

void output_comparison::note(double distance, double bound)
{
  if (!std::isfinite(distance) || bound == 0) {
    summary_.max_ratio = k_infinite;
  } else if (distance > summary_.max_ratio * bound) {
    summary_.max_ratio = std::max(summary_.max_ratio, distance / bound);
  }
  if (std::isfinite(distance)) summary_.max_abs_error = std::max(summary_.max_abs_error, distance);
}

void output_comparison::note_exact(std::size_t part, number const* expected, double distance)
{
  if (ranges_[part].is_whole) return;
  auto const spacing = tolerance_at({.ulp = 1}, parts_, part, expected);
  auto const ulp = spacing > 0 ? distance / spacing : k_infinite;
  summary_.exact_ulp = std::max(summary_.exact_ulp, ulp);
}

void output_comparison::compare(std::size_t index, number const* expected, double const* bounds)
{
  if (is_missing(index)) return;
  auto const* const element = actual_.bytes.data() + index * actual_.type.size;
  mismatch first;
  auto is_bounded = true;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto const kind = parts_[i].kind;
    auto const actual = load(kind, element + parts_[i].offset);
    auto const distance = kind == scalar_kind::bytes && expected[i].whole != actual.whole
                              ? k_infinite
                              : ranges_[i].distance(expected[i], actual);
    auto const bound = std::isnan(bounds[i]) ? k_infinite : bounds[i];
    is_bounded = is_bounded && !ranges_[i].accepts_all(expected[i], bound);
    if (distance == 0) continue;
    note(distance, bound);
    if (distance <= bound && std::isfinite(distance)) continue;
    if (bound == 0) note_exact(i, expected, distance);
    mismatch const wrong{
        .part = i,
        .expected = expected[i],
        .actual = actual,
        .bound = bounds[i],
        .is_wrong = true,
        .index = index,
        .error = distance,
        .ratio = bound == 0 || !std::isfinite(distance) ? k_infinite : distance / bound};
    note_worst(wrong);
    if (!first.is_wrong) first = wrong;
  }
  if (!is_bounded) ++summary_.unbounded;
  record(index, first);
}

void output_comparison::compare_exactly(std::size_t index, std::byte const* expected)
{
  if (is_missing(index)) return;
  auto const* const element = actual_.bytes.data() + index * actual_.type.size;
  mismatch first;
  for (std::size_t i = 0; i < parts_.size() && !first.is_wrong; ++i) {
    auto const& part = parts_[i];
    if (std::memcmp(element + part.offset, expected + part.offset, size_of(part.kind)) == 0)
      continue;
    first = {.part = i,
             .expected = load(part.kind, expected + part.offset),
             .actual = load(part.kind, element + part.offset),
             .bound = 0,
             .is_wrong = true};
  }
  record(index, first);
}

}  // namespace detail

void compare_lengths(output_verification& result, std::size_t expected, std::size_t actual)
{
  if (expected == actual) return;
  auto const common = std::min(expected, actual);
  output_verification difference{.elements = std::max(expected, actual) - common,
                                 .failures = std::max(expected, actual) - common,
                                 .first_failure = common};
  difference.expected =
      actual < expected ? "an element" : detail::format("none: {} are expected", expected);
  difference.actual =
      actual < expected ? detail::format("none: the output has {}", actual) : "an element";
  result += difference;
  if (result.method.empty()) result.method = "number of elements";
  result.reason.clear();
}

output_verification compare_outputs(array_view const& expected, array_view const& actual,
                                    hook_tolerance const& tolerance)
{
  if (!(expected.type == actual.type))
    return {.reason = detail::format("the types differ: {} and {}", to_string(expected.type),
                                     to_string(actual.type))};
  if (expected.count() != actual.count())
    return {.reason = detail::format("the sizes differ: {} and {} elements", expected.count(),
                                     actual.count())};
  auto const parts = detail::components_of(actual.type);
  std::vector<output_verification> summaries(detail::thread_count(actual.count()));
  detail::parallel_blocks(
      actual.count(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
        detail::output_comparison comparison(actual, parts);
        std::vector<number> numbers(parts.size());
        std::vector<double> bounds(parts.size());
        for (auto i = begin; i < end; ++i) {
          auto const* const element = expected.bytes.data() + i * expected.type.size;
          for (std::size_t j = 0; j < parts.size(); ++j)
            numbers[j] = detail::load(parts[j].kind, element + parts[j].offset);
          for (std::size_t j = 0; j < parts.size(); ++j)
            bounds[j] = parts[j].kind == scalar_kind::bytes
                            ? 0
                            : detail::tolerance_at(tolerance, parts, j, numbers.data());
          comparison.compare(i, numbers.data(), bounds.data());
        }
        summaries[thread] = comparison.summary();
      });
  output_verification total{.method = "compared with expected values"};
  for (auto const& summary : summaries) total += summary;
  return total;
}

}  // namespace fatlink
