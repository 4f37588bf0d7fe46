// SPDX-License-Identifier: Apache-2.0
// The two 16-bit floating-point formats as bit patterns, converted from and to double. Conversion
// to double is exact; conversion from double rounds once.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace fatlink::half_float {

/// A rounding mode of IEEE 754. It fits into the flags of an instruction; the numbers FE_… of
/// <cfenv> do so only on some architectures.
enum class rounding : std::uint16_t { to_nearest, to_zero, downward, upward };

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

/// The number as f32, which has every value of both formats. Every NaN becomes the same quiet NaN.
template <typename Half>
float to_float(Half value) noexcept
{
  constexpr auto k_exponents = (1U << (15 - Half::k_fraction)) - 1;
  constexpr auto k_bias = static_cast<std::uint32_t>(126 + Half::k_min_exponent) << 23;
  // The smallest denormal; 2^-133 is a denormal of f32 too.
  constexpr auto k_step = Half::k_fraction == 10 ? 0x1p-24F : 0x1p-133F;
  auto const magnitude = std::uint32_t{value.bits} & 0x7FFFU;
  auto const exponent = magnitude >> Half::k_fraction;
  auto const fraction = magnitude & ((1U << Half::k_fraction) - 1);
  auto const normal = (magnitude << (23 - Half::k_fraction)) + k_bias;
  auto const denormal = std::bit_cast<std::uint32_t>(
      static_cast<float>(static_cast<std::int32_t>(fraction)) * k_step);
  auto const sign = (std::uint32_t{value.bits} & 0x8000U) << 16;
  auto const finite = sign | (exponent == 0 ? denormal : normal);
  auto const special = fraction != 0 ? 0x7FC00000U : sign | 0x7F800000U;
  return std::bit_cast<float>(exponent == k_exponents ? special : finite);
}

template <typename Half>
double to_double(Half value) noexcept
{
  return static_cast<double>(to_float(value));
}

/// Rounds `value` in `mode`. Values beyond the range become infinity, or the
/// greatest finite number if `mode` rounds towards zero.
template <typename Half>
Half round_to(double value, rounding mode = rounding::to_nearest) noexcept
{
  constexpr auto k_infinity =
      static_cast<std::uint32_t>(0x7FFF >> Half::k_fraction << Half::k_fraction);
  constexpr std::uint64_t k_hidden = std::uint64_t{1} << 52;
  auto const bits = std::bit_cast<std::uint64_t>(value);
  auto const sign = static_cast<std::uint32_t>(bits >> 48 & 0x8000U);
  auto const magnitude = bits & ~(std::uint64_t{1} << 63);
  auto const exponent = static_cast<int>(magnitude >> 52) - 1023;
  auto const kept = std::max(exponent, Half::k_min_exponent);
  // The steps of the format are 2^(kept - k_fraction); a double that is denormal is far below them.
  auto const significand =
      (magnitude & (k_hidden - 1)) | (magnitude >= k_hidden ? k_hidden : std::uint64_t{0});
  auto const shift = static_cast<unsigned>(std::min(52 - Half::k_fraction + kept - exponent, 63));
  auto const below = significand >> shift;
  auto const remainder = significand - (below << shift);
  auto const half = std::uint64_t{1} << (shift - 1);
  auto const up = mode == rounding::upward ? sign == 0 : mode == rounding::downward && sign != 0;
  auto const is_next =
      mode == rounding::to_nearest ? remainder + (below & 1) > half : up && remainder != 0;
  auto const steps = static_cast<std::uint32_t>(below) + (is_next ? 1U : 0U);
  // A carry out of the fraction increments the exponent, whose bits are next to it.
  auto const finite =
      (static_cast<std::uint32_t>(kept - Half::k_min_exponent) << Half::k_fraction) + steps;
  auto const is_exact = magnitude == std::uint64_t{0x7FF} << 52;  // infinity
  auto const rounds_to_finite =
      !is_exact && (mode == rounding::to_zero || (mode != rounding::to_nearest && !up));
  auto const greatest = rounds_to_finite ? k_infinity - 1 : k_infinity;
  auto const result = sign | std::min(finite, greatest);
  auto const is_nan = magnitude > std::uint64_t{0x7FF} << 52;
  return {static_cast<std::uint16_t>(is_nan ? Half::k_nan : result)};
}

/// Rounds to nearest. The host must round to nearest too.
template <typename Half>
Half round_to_nearest(float value) noexcept
{
  auto const bits = std::bit_cast<std::uint32_t>(value);
  auto const sign = bits >> 16 & 0x8000U;
  auto const magnitude = bits & 0x7FFFFFFFU;
  constexpr auto k_dropped = 23 - Half::k_fraction;
  constexpr auto k_bias = static_cast<std::uint32_t>(126 + Half::k_min_exponent) << 23;
  constexpr auto k_infinity =
      static_cast<std::uint32_t>(0x7FFF >> Half::k_fraction << Half::k_fraction);
  auto const odd = magnitude >> k_dropped & 1U;
  auto const normal = (magnitude - k_bias + (1U << (k_dropped - 1)) - 1 + odd) >> k_dropped;
  auto result = std::min(normal, k_infinity);
  if constexpr (Half::k_fraction == 10) {
    // The addition rounds to a multiple of 2^-24, the smallest denormal.
    auto const shifted = std::bit_cast<float>(magnitude) + 0.5F;
    auto const denormal =
        std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
    result = magnitude < std::bit_cast<std::uint32_t>(0x1p-14F) ? denormal : result;
  }
  return {static_cast<std::uint16_t>(magnitude > 0x7F800000U ? Half::k_nan : sign | result)};
}

/// a + b rounded to odd: the last bit is set if the sum is inexact. Rounding the result to a
/// format with at least two bits less then gives the same as rounding the exact sum (Boldo and
/// Melquiond, 2008). F: double; or float, if the error of the sum is no denormal.
template <typename F>
F add_rounding_to_odd(F a, F b) noexcept
{
  using bits_type = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
  auto const sum = a + b;
  auto const part = sum - a;
  auto const error = (a - (sum - part)) + (b - part);  // NaN if the sum is not finite
  auto const bits = std::bit_cast<bits_type>(sum);
  auto const is_exact = !(error < 0 || error > 0) || (bits & 1) != 0;
  auto const neighbour = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return std::bit_cast<F>(is_exact ? bits : neighbour);
}

}  // namespace fatlink::half_float
