// SPDX-License-Identifier: Apache-2.0
// 2^x, sin and cos of f32 numbers, computed in f64 without branches, so that loops over them are
// vectorised. The errors are below 2^-50 of the result: rounded to f32 it is the correctly rounded
// one, except where the exact one is about 2^-27 of a step from the middle of two numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace fatlink::interpreter::elementary {

/// Added to a number below 2^51, it rounds it to an integer, which is then in the lowest bits.
constexpr double k_rounder = 0x1.8p52;

/// `a` where the mask has all bits, `b` where it has none.
inline double chosen(std::uint64_t mask, double a, double b) noexcept
{
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(a) & mask) |
                               (std::bit_cast<std::uint64_t>(b) & ~mask));
}

/// Beyond ±200 the result is that of ±200, which f32 cannot express either.
[[gnu::always_inline]] inline double power_of_2(double x) noexcept
{
  x = x < -200 ? -200 : x;
  x = x > 200 ? 200 : x;
  auto const rounded = x + k_rounder;
  auto const fraction = x - (rounded - k_rounder);  // at most 1/2
  constexpr double k_ln2 = 0.693147180559945309417232;
  auto const y = fraction * k_ln2;
  auto sum = 1.0 / 6227020800.0;
  sum = sum * y + 1.0 / 479001600.0;
  sum = sum * y + 1.0 / 39916800.0;
  sum = sum * y + 1.0 / 3628800.0;
  sum = sum * y + 1.0 / 362880.0;
  sum = sum * y + 1.0 / 40320.0;
  sum = sum * y + 1.0 / 5040.0;
  sum = sum * y + 1.0 / 720.0;
  sum = sum * y + 1.0 / 120.0;
  sum = sum * y + 1.0 / 24.0;
  sum = sum * y + 1.0 / 6.0;
  sum = sum * y + 0.5;
  sum = sum * y + 1.0;
  sum = sum * y + 1.0;
  auto const scale = (std::bit_cast<std::uint64_t>(rounded) << 52) + (std::uint64_t{1023} << 52);
  return sum * std::bit_cast<double>(scale);
}

/// Up to this magnitude sin_or_cos() is exact enough.
constexpr float k_greatest_angle = 0x1p17F;

/// Reduces the angle to at most pi/4 by the parts of pi/2 (fdlibm, e_rem_pio2.c): products of the
/// first two with integers below 2^20 are exact.
template <bool Cosine>
[[gnu::always_inline]] inline double sin_or_cos(double x) noexcept
{
  auto const rounded = x * 6.36619772367581382433e-01 + k_rounder;
  auto const quarters = rounded - k_rounder;
  auto const quadrant = std::bit_cast<std::uint64_t>(rounded) + (Cosine ? 1 : 0);
  auto const r = ((x - quarters * 0x1.921fb544p+0) - quarters * 0x1.0b4611a6p-34) -
                 quarters * 0x1.3198a2e037073p-69;
  auto const r2 = r * r;
  auto sine = -1.0 / 1307674368000.0;
  sine = sine * r2 + 1.0 / 6227020800.0;
  sine = sine * r2 - 1.0 / 39916800.0;
  sine = sine * r2 + 1.0 / 362880.0;
  sine = sine * r2 - 1.0 / 5040.0;
  sine = sine * r2 + 1.0 / 120.0;
  sine = sine * r2 - 1.0 / 6.0;
  sine = (sine * r2 + 1.0) * r;  // keeps the sign of zero
  auto cosine = 1.0 / 20922789888000.0;
  cosine = cosine * r2 - 1.0 / 87178291200.0;
  cosine = cosine * r2 + 1.0 / 479001600.0;
  cosine = cosine * r2 - 1.0 / 3628800.0;
  cosine = cosine * r2 + 1.0 / 40320.0;
  cosine = cosine * r2 - 1.0 / 720.0;
  cosine = cosine * r2 + 1.0 / 24.0;
  cosine = cosine * r2 - 0.5;
  cosine = cosine * r2 + 1.0;
  auto const result = chosen(0 - (quadrant & 1), cosine, sine);
  auto const sign = (quadrant & 2) << 62;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) ^ sign);
}

}  // namespace fatlink::interpreter::elementary
