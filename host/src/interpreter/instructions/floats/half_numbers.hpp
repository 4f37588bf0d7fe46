// SPDX-License-Identifier: Apache-2.0
// Arithmetic on one f16 or bf16 number, by its bits. Source: PTX ISA 9.0, "Half Precision
// Floating-Point Instructions".
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter::half_numbers {

using half_float::add_rounding_to_odd;
using half_float::binary16;
using half_float::round_to_nearest;
using half_float::to_float;

enum half_flags : std::uint32_t { k_ftz = 1, k_saturate = 2, k_relu = 4, k_nan_wins = 8 };

template <typename Half>
constexpr auto k_exponent = static_cast<std::uint16_t>(0x7FFF >> Half::k_fraction
                                                                     << Half::k_fraction);

template <typename Half>
std::uint16_t flushed(std::uint16_t bits) noexcept
{
  return (bits & k_exponent<Half>) == 0 ? static_cast<std::uint16_t>(bits & 0x8000) : bits;
}

template <typename Half>
bool is_nan(std::uint16_t bits) noexcept
{
  return (bits & 0x7FFF) > k_exponent<Half>;
}

/// The modifiers of a result: .ftz, .sat, .relu.
template <typename Half>
std::uint16_t modified(std::uint16_t bits, std::uint32_t flags) noexcept
{
  auto const one = round_to_nearest<Half>(1.0F).bits;
  auto const is_negative = (bits & 0x8000) != 0;
  if ((flags & k_ftz) != 0) bits = flushed<Half>(bits);
  if ((flags & k_saturate) != 0)
    return is_negative || is_nan<Half>(bits) ? std::uint16_t{0} : std::min(bits, one);
  if ((flags & k_relu) != 0 && is_negative && !is_nan<Half>(bits)) return 0;
  return bits;
}

// Operations on f32. The operands have 11 or 8 bits and f32 has 24: a sum or difference in f32
// rounds innocuously, since 24 >= 2 · 11 + 2 (Figueroa, 1995), and sums that are denormal are
// exact. A product is exact, or far below the smallest denormal of bf16. A sum of three is rounded
// to odd.
struct op_add {
  template <typename Half>
  static float apply(float a, float b, float) noexcept
  {
    return a + b;
  }
};
struct op_subtract {
  template <typename Half>
  static float apply(float a, float b, float) noexcept
  {
    return a - b;
  }
};
struct op_multiply {
  template <typename Half>
  static float apply(float a, float b, float) noexcept
  {
    return a * b;
  }
};

/// To f32, rounded to odd.
inline float to_odd_float(double value) noexcept
{
  auto const nearest = static_cast<float>(value);
  auto const bits = std::bit_cast<std::uint32_t>(nearest);
  auto const magnitude = std::abs(static_cast<double>(nearest));
  auto const is_exact = magnitude == std::abs(value) || (bits & 1) != 0;
  auto const is_special = (bits & 0x7F800000U) == 0x7F800000U;
  auto const neighbor = magnitude < std::abs(value) ? bits + 1 : bits - 1;
  return std::bit_cast<float>(is_exact || is_special ? bits : neighbor);
}

/// f16: the product is exact in f32, as it has 22 bits and an exponent of at least -48, and so is
/// the error of the sum. bf16: products have the exponents of f64.
struct op_fma {
  template <typename Half>
  static float apply(float a, float b, float c) noexcept
  {
    if constexpr (std::is_same_v<Half, binary16>) return add_rounding_to_odd(a * b, c);
    return to_odd_float(add_rounding_to_odd(static_cast<double>(a) * static_cast<double>(b),
                                            static_cast<double>(c)));
  }
};

template <typename Half, typename Op>
std::uint16_t computed(std::uint16_t a, std::uint16_t b, std::uint16_t c) noexcept
{
  return round_to_nearest<Half>(
             Op::template apply<Half>(to_float(Half{a}), to_float(Half{b}), to_float(Half{c})))
      .bits;
}

/// −0 is less than +0. If one operand is NaN, the result is the other one, or NaN with `.NaN`.
template <typename Half, bool Max>
std::uint16_t extreme(std::uint16_t a, std::uint16_t b, bool nan_wins) noexcept
{
  using u16 = std::uint16_t;
  using s16 = std::int16_t;
  constexpr s16 k_infinity = static_cast<s16>(k_exponent<Half>);
  // By masks of 16 bits, so that the loop is vectorised. A key has the order of the numbers.
  auto const mask = [](bool condition) { return static_cast<u16>(condition ? 0xFFFF : 0); };
  auto const key = [](u16 bits) {
    return static_cast<s16>(bits ^ (static_cast<u16>(static_cast<s16>(bits) >> 15) & 0x7FFF));
  };
  auto const a_is_nan = mask(static_cast<s16>(a & 0x7FFF) > k_infinity);
  auto const b_is_nan = mask(static_cast<s16>(b & 0x7FFF) > k_infinity);
  auto const a_is_less = mask(key(a) < key(b));
  auto const prefers_b = static_cast<u16>((Max ? a_is_less : ~a_is_less) | a_is_nan);
  auto const takes_b = static_cast<u16>(prefers_b & ~b_is_nan);
  auto const number = static_cast<u16>((b & takes_b) | (a & ~takes_b));
  auto const both = static_cast<u16>(a_is_nan & b_is_nan);
  auto const is_nan = static_cast<u16>(nan_wins ? a_is_nan | b_is_nan : both);
  return static_cast<u16>((number & ~is_nan) | (Half::k_nan & is_nan));
}

}  // namespace fatlink::interpreter::half_numbers
