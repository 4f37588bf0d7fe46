// SPDX-License-Identifier: Apache-2.0
// The floating-point formats of 4, 6 and 8 bits, converted from and to double. Source: PTX ISA 9.0,
// "Alternate Floating-Point Data Formats" and "cvt".
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace fatlink::interpreter {

/// A format with a sign, and no infinity unless `infinity` is not 0. Codes are without the sign.
struct small_format {
  std::string_view word;  ///< of two packed values
  unsigned width = 8;     ///< bits from one packed value to the next
  unsigned fraction = 0;  ///< bits
  int bias = 0;           ///< of the exponent
  std::uint8_t sign = 0;  ///< the sign bit
  std::uint8_t max = 0;   ///< the greatest finite number
  std::uint8_t nan = 0;   ///< max, if the format has no NaN
  std::uint8_t infinity = 0;
};

inline constexpr std::array k_small_formats{
    small_format{"e4m3x2", 8, 3, 7, 0x80, 0x7E, 0x7F},
    small_format{"e5m2x2", 8, 2, 15, 0x80, 0x7B, 0x7F, 0x7C},
    small_format{"e2m3x2", 8, 3, 1, 0x20, 0x1F, 0x1F},
    small_format{"e3m2x2", 8, 2, 3, 0x20, 0x1F, 0x1F},
    small_format{"e2m1x2", 4, 1, 1, 0x08, 0x07, 0x07},
};

/// Rounds to nearest even. Values beyond the range become the greatest finite number; NaN becomes
/// the positive NaN, or the greatest number of a format without it.
inline std::uint8_t encoded(double value, small_format const& format) noexcept
{
  if (std::isnan(value)) return format.nan;
  auto const sign = std::signbit(value) ? format.sign : std::uint8_t{0};
  auto const magnitude = std::abs(value);
  if (magnitude == 0) return sign;
  auto const fraction = static_cast<int>(format.fraction);
  auto const min_exponent = 1 - format.bias;
  auto const exponent =
      std::isinf(value) ? format.bias + 8 : std::max(std::ilogb(magnitude), min_exponent);
  if (exponent > format.bias + 1) return static_cast<std::uint8_t>(sign | format.max);
  // A carry out of the fraction increments the exponent, whose bits are next to it.
  auto const steps = std::nearbyint(std::ldexp(magnitude, fraction - exponent));
  auto const code = ((exponent - min_exponent) << fraction) + static_cast<int>(steps);
  return static_cast<std::uint8_t>(sign | std::min<int>(code, format.max));
}

inline double decoded(std::uint8_t code, small_format const& format) noexcept
{
  auto const sign = (code & format.sign) != 0 ? -1.0 : 1.0;
  auto const magnitude = code & (format.sign - 1U);
  if (format.infinity != 0 && magnitude == format.infinity) return sign * HUGE_VAL;
  if (magnitude > format.max) return std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
  auto const fraction = static_cast<int>(format.fraction);
  auto const exponent = static_cast<int>(magnitude >> format.fraction);
  auto const digits = static_cast<int>(magnitude & ((1U << format.fraction) - 1));
  if (exponent == 0) return sign * std::ldexp(digits, 1 - format.bias - fraction);
  return sign * std::ldexp(digits + (1 << fraction), exponent - format.bias - fraction);
}

/// The exponent of |value| as ue8m0, rounded towards zero or `up`; 255 is NaN. Numbers up to 2^-127
/// become 2^-127.
inline std::uint8_t scale_of(float value, bool up, bool finite) noexcept
{
  auto const bits = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
  if (bits > 0x7F800000U) return 0xFF;
  auto exponent = bits >> 23;
  if (up && (bits & 0x7FFFFFU) != 0 && bits > 0x400000U) ++exponent;
  return static_cast<std::uint8_t>(finite && exponent == 0xFF ? 0xFE : exponent);
}

/// The bits of a bf16 of a scale.
inline std::uint16_t scale_as_bfloat(std::uint8_t scale) noexcept
{
  if (scale == 0xFF) return 0x7FFF;
  return static_cast<std::uint16_t>(scale == 0 ? 0x40U : unsigned{scale} << 7);
}

}  // namespace fatlink::interpreter
