// SPDX-License-Identifier: Apache-2.0
// Compares results with what they should be, in units in the last place (ULP) of float.
// ULP distance of `actual` from a real `expected`: |actual − expected| divided by the spacing
// of floats at `expected` (never below the smallest denormal's). NaN agrees with NaN only,
// an infinity with itself only; else the distance is infinite.
// Threads: verify_chunk spreads a chunk over all cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fatlink/export.hpp"
#include "fatlink/reference.hpp"

namespace FATLINK_API fatlink {

/// ULP distance of a float from the exact value.
double ulp_distance(float actual, double expected) noexcept;
/// Steps on the float number line between two floats; 0 for equal, NaN with NaN, ±0.
std::uint64_t ulp_steps(float a, float b) noexcept;

/// What was seen over all elements so far; merge by operator+=.
struct verification {
  std::size_t elements = 0;
  std::size_t failures = 0;       ///< beyond the tolerance
  double max_ulp = 0;             ///< infinity where NaN or infinity is wrong
  double max_abs_error = 0;       ///< over finite pairs
  std::size_t first_failure = 0;  ///< index, valid when failures > 0
  float first_input = 0;          ///< its input, result and expected value
  float first_actual = 0;
  double first_expected = 0;

  [[nodiscard]] bool verified() const noexcept { return elements > 0 && failures == 0; }
  verification& operator+=(verification const& later);
};

/// Verifies one chunk; `first` is the index of its first element in the whole.
/// Host memory: 8 bytes an element of a 64 Ki block and core, nothing else.
verification verify_chunk(reference const& expected, std::span<float const> inputs,
                          std::span<float const> actual, std::size_t first);

/// Compares two results with each other within `tolerance_ulp` steps.
verification compare_chunk(std::span<float const> inputs, std::span<float const> expected,
                           std::span<float const> actual, double tolerance_ulp, std::size_t first);

}  // namespace fatlink
