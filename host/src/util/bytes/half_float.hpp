// SPDX-License-Identifier: Apache-2.0
// The two 16-bit floating-point formats as bit patterns, converted from and to double. Conversion
// to double is exact; conversion from double rounds once.
#pragma once

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace fatlink::half_float {

/// IEEE 754 binary16 and bfloat16: the number of fraction bits, and the exponents of the smallest
/// and the greatest normal number.
struct binary16 {
  static constexpr int k_fraction = 10, k_min_exponent = -14, k_max_exponent = 15;
  static constexpr std::uint16_t k_nan = 0x7FFF;
  std::uint16_t bits;
};
struct bfloat16 {
  static constexpr int k_fraction = 7, k_min_exponent = -126, k_max_exponent = 127;
  static constexpr std::uint16_t k_nan = 0x7FFF;
  std::uint16_t bits;
};

template <typename Half>
double to_double(Half value) noexcept
{
  constexpr auto k_exponents = (1 << (15 - Half::k_fraction)) - 1;
  auto const exponent = value.bits >> Half::k_fraction & k_exponents;
  auto const fraction = value.bits & ((1 << Half::k_fraction) - 1);
  auto const sign = (value.bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == k_exponents)
    return fraction != 0 ? std::bit_cast<double>(std::uint64_t{0x7FF8000000000000})
                         : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, Half::k_min_exponent - Half::k_fraction);
  return sign * std::ldexp(fraction + (1 << Half::k_fraction),
                           exponent - 1 + Half::k_min_exponent - Half::k_fraction);
}

/// Rounds `value` in `mode` (FE_TONEAREST, …). Values beyond the range become infinity, or the
/// greatest finite number if `mode` rounds towards zero.
template <typename Half>
Half round_to(double value, int mode = FE_TONEAREST) noexcept
{
  if (std::isnan(value)) return {Half::k_nan};
  auto const sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  constexpr auto k_infinity =
      static_cast<std::uint16_t>(0x7FFF >> Half::k_fraction << Half::k_fraction);
  if (std::isinf(value)) return {static_cast<std::uint16_t>(sign | k_infinity)};
  if (value == 0) return {sign};
  auto const exponent = std::max(std::ilogb(value), Half::k_min_exponent);
  auto steps = std::ldexp(std::abs(value), Half::k_fraction - exponent);
  auto const up = mode == FE_UPWARD ? sign == 0 : mode == FE_DOWNWARD && sign != 0;
  auto const below = std::floor(steps);
  if (mode == FE_TONEAREST) {
    auto const remainder = steps - below;
    auto const odd = (static_cast<std::uint32_t>(below) & 1U) != 0;
    steps = remainder > 0.5 || (remainder == 0.5 && odd) ? below + 1 : below;
  } else {
    steps = up ? std::ceil(steps) : below;
  }
  // A carry out of the fraction increments the exponent, whose bits are next to it.
  auto const count = static_cast<std::uint32_t>(steps);
  auto const bits =
      (static_cast<std::uint32_t>(exponent - Half::k_min_exponent) << Half::k_fraction) + count;
  if (bits >= k_infinity) {
    auto const finite = mode == FE_TOWARDZERO || (mode != FE_TONEAREST && !up);
    return {static_cast<std::uint16_t>(sign | (finite ? k_infinity - 1 : k_infinity))};
  }
  return {static_cast<std::uint16_t>(sign | bits)};
}

/// a + b rounded to odd: the last bit is set if the sum is inexact. Rounding the result to a
/// narrower format then gives the same as rounding the exact sum (Boldo and Melquiond, 2008).
inline double add_rounding_to_odd(double a, double b) noexcept
{
  auto const sum = a + b;
  if (!std::isfinite(sum)) return sum;
  auto const part = sum - a;
  auto const error = (a - (sum - part)) + (b - part);
  auto const bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace fatlink::half_float
