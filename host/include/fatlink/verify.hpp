// SPDX-License-Identifier: Apache-2.0
// Compares results with expected values in units in the last place (ULP) of float.
// ULP distance of `actual` from a real number `expected`: |actual − expected| divided by the
// spacing of floats at `expected`, which is at least the smallest denormal. NaN agrees only with
// NaN, an infinity only with itself; otherwise the distance is infinite. Threads: safe;
// verify_chunk and compare_chunk use all cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fatlink/export.hpp"
#include "fatlink/reference.hpp"

namespace FATLINK_API fatlink {

/// The ULP distance of a float from the exact value.
double ulp_distance(float actual, double expected) noexcept;
/// How many floats lie between two floats, one of the two included; 0 for equal values, for two
/// NaNs and for +0 and -0.
std::uint64_t ulp_steps(float a, float b) noexcept;

/// A summary over elements; operator+= adds that of later elements.
struct verification {
  std::size_t elements = 0;       ///< how many were compared
  std::size_t failures = 0;       ///< elements outside of the tolerance
  double max_ulp = 0;             ///< infinity: a NaN or an infinity is wrong
  double max_abs_error = 0;       ///< over finite pairs
  std::size_t first_failure = 0;  ///< index, valid when failures > 0
  float first_input = 0;          ///< the input of the first failure
  float first_actual = 0;         ///< its result
  double first_expected = 0;      ///< its expected value

  /// Whether there were elements, and all were within the tolerance.
  [[nodiscard]] bool verified() const noexcept { return elements > 0 && failures == 0; }
  /// Adds the summary of the elements after these.
  verification& operator+=(verification const& later);
};

/// Verifies one chunk, whose first element has the index `start`.
/// Host memory: 512 KiB for each core.
verification verify_chunk(reference const& expected, std::span<float const> inputs,
                          std::span<float const> actual, std::size_t start);

/// Compares two results with each other; up to `tolerance_ulp` steps (ulp_steps) are allowed.
verification compare_chunk(std::span<float const> inputs, std::span<float const> expected,
                           std::span<float const> actual, double tolerance_ulp, std::size_t start);

}  // namespace fatlink
