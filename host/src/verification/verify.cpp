// SPDX-License-Identifier: Apache-2.0
#include "fatlink/verify.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "util/process/parallel.hpp"

namespace fatlink {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t k_block = std::size_t{64} << 10;
// The least real number that rounds to infinity: FLT_MAX plus half of the spacing there.
constexpr double k_overflow = 0x1.ffffffp127;

/// Spacing of floats at `expected`, never below the smallest denormal.
double spacing_at(double expected) noexcept
{
  constexpr int k_precision = 23;
  constexpr int k_least_exponent = -126;
  if (expected == 0) return 0x1p-149;
  return std::ldexp(1.0, std::max(std::ilogb(expected), k_least_exponent) - k_precision);
}

std::int64_t ordered(float value) noexcept
{
  auto const bits = std::bit_cast<std::int32_t>(value);
  return bits < 0 ? -static_cast<std::int64_t>(bits & 0x7FFFFFFF) : bits;
}

struct element {
  std::size_t index;
  float input;
  float actual;
  double expected;
};

void record(verification& summary, element const& result, double ulp, double tolerance) noexcept
{
  ++summary.elements;
  summary.max_ulp = std::max(summary.max_ulp, ulp);
  auto const error = std::abs(static_cast<double>(result.actual) - result.expected);
  if (std::isfinite(error)) summary.max_abs_error = std::max(summary.max_abs_error, error);
  if (ulp <= tolerance) return;
  if (summary.failures++ != 0) return;
  summary.first_failure = result.index;
  summary.first_input = result.input;
  summary.first_actual = result.actual;
  summary.first_expected = result.expected;
}

template <typename Block>
verification over_all_cores(std::size_t count, Block const& block)
{
  std::vector<verification> parts(detail::thread_count(count));
  detail::parallel_blocks(count, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    parts[thread] = block(begin, end);
  });
  verification total;
  for (auto const& part : parts) total += part;
  return total;
}

}  // namespace

double ulp_distance(float actual, double expected) noexcept
{
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) && std::isnan(expected) ? 0 : k_infinity;
  if (std::isinf(actual) || std::isinf(expected) || std::abs(expected) >= k_overflow) {
    auto const overflows = std::abs(expected) >= k_overflow;
    if (overflows && std::isinf(actual))
      return std::signbit(actual) == std::signbit(expected) ? 0 : k_infinity;
    if (std::isinf(expected)) return k_infinity;
    if (std::isinf(actual)) {  // counts as 2^128, one step above FLT_MAX
      auto const limit = std::copysign(0x1p128, static_cast<double>(actual));
      return std::abs(limit - expected) / spacing_at(expected);
    }
  }
  return std::abs(static_cast<double>(actual) - expected) / spacing_at(expected);
}

std::uint64_t ulp_steps(float a, float b) noexcept
{
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<std::uint64_t>::max();
  auto const difference = ordered(a) - ordered(b);
  return static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
}

verification& verification::operator+=(verification const& later)
{
  if (failures == 0 && later.failures != 0) {
    first_failure = later.first_failure;
    first_input = later.first_input;
    first_actual = later.first_actual;
    first_expected = later.first_expected;
  }
  elements += later.elements;
  failures += later.failures;
  max_ulp = std::max(max_ulp, later.max_ulp);
  max_abs_error = std::max(max_abs_error, later.max_abs_error);
  return *this;
}

verification verify_chunk(reference const& expected, std::span<float const> inputs,
                          std::span<float const> actual, std::size_t start)
{
  return over_all_cores(inputs.size(), [&](std::size_t begin, std::size_t end) {
    auto const evaluate = expected.evaluator();
    std::vector<double> values(std::min(k_block, end - begin));
    verification summary;
    for (auto offset = begin; offset < end; offset += values.size()) {
      auto const count = std::min(values.size(), end - offset);
      evaluate(inputs.subspan(offset, count), std::span(values).first(count));
      for (std::size_t i = 0; i < count; ++i)
        record(summary, {start + offset + i, inputs[offset + i], actual[offset + i], values[i]},
               ulp_distance(actual[offset + i], values[i]), expected.tolerance_ulp);
    }
    return summary;
  });
}

verification compare_chunk(std::span<float const> inputs, std::span<float const> expected,
                           std::span<float const> actual, double tolerance_ulp, std::size_t start)
{
  return over_all_cores(inputs.size(), [&](std::size_t begin, std::size_t end) {
    verification summary;
    for (auto i = begin; i < end; ++i)
      record(summary, {start + i, inputs[i], actual[i], static_cast<double>(expected[i])},
             static_cast<double>(ulp_steps(actual[i], expected[i])), tolerance_ulp);
    return summary;
  });
}

}  // namespace fatlink
