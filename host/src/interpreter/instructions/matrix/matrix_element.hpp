// SPDX-License-Identifier: Apache-2.0
// The types of elements of matrices, and their values. Source: PTX ISA 9.0, "Matrix Data-types".
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "interpreter/instructions/floats/float_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {

enum class element : std::uint8_t {
  f16,
  bf16,
  tf32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  f32,
  s32
};

/// "f16" → element::f16; nullopt for any other word.
std::optional<element> parse_element(std::string_view word) noexcept;
/// Bits in a register or in memory. tf32 has those of f32.
constexpr unsigned bits_of(element type) noexcept
{
  switch (type) {
    case element::b1:
      return 1;
    case element::s4:
    case element::u4:
      return 4;
    case element::e4m3:
    case element::e5m2:
    case element::s8:
    case element::u8:
      return 8;
    case element::f16:
    case element::bf16:
      return 16;
    case element::f64:
      return 64;
    default:
      return 32;
  }
}
/// Bits of the registers that hold elements: 64 for f64, otherwise 32.
constexpr unsigned register_bits(element type) noexcept
{
  return type == element::f64 ? 64 : 32;
}
inline bool is_whole(element type) noexcept
{
  return type >= element::s8 && type <= element::b1;
}

/// A number whose exponent begins at the bit where that of a float does; `scale` corrects the bias.
inline float rescaled(std::uint32_t magnitude, bool is_negative, float scale) noexcept
{
  auto const value = std::bit_cast<float>(magnitude) * scale;
  return is_negative ? -value : value;
}

inline float half_value(std::uint32_t bits) noexcept
{
  auto const is_finite = (bits & 0x7C00U) != 0x7C00U;
  auto const magnitude = (bits & 0x7FFFU) << 13 | (is_finite ? 0U : 0x7F800000U);
  return rescaled(magnitude, (bits & 0x8000U) != 0, is_finite ? 0x1p112F : 1.0F);
}

inline float e4m3_value(std::uint32_t bits) noexcept
{
  auto const value = rescaled((bits & 0x7FU) << 20, (bits & 0x80U) != 0, 0x1p120F);
  return (bits & 0x7FU) == 0x7FU ? std::numeric_limits<float>::quiet_NaN() : value;
}

/// The value of a floating-point element with these bits.
template <element Type>
double real_value(std::uint64_t bits) noexcept
{
  auto const word = static_cast<std::uint32_t>(bits);
  if constexpr (Type == element::f16) return half_value(word);
  if constexpr (Type == element::bf16) return std::bit_cast<float>(word << 16);
  if constexpr (Type == element::tf32)
    return std::bit_cast<float>(word & ~0x1FFFU);  // the lower bits are ignored
  if constexpr (Type == element::f64) return std::bit_cast<double>(bits);
  if constexpr (Type == element::e4m3) return e4m3_value(word);
  if constexpr (Type == element::e5m2) return half_value(word << 8);
  return std::bit_cast<float>(word);
}

/// The value of s8 to u4, and of s32.
template <element Type>
std::int32_t whole_value(std::uint64_t bits) noexcept
{
  if constexpr (Type == element::s8) return static_cast<std::int8_t>(bits);
  if constexpr (Type == element::s4) return static_cast<std::int8_t>(bits << 4) >> 4;
  return static_cast<std::int32_t>(bits);
}

/// The bits of `value`, rounded to nearest: f16, f32 or f64.
template <element Type>
std::uint64_t rounded_bits(double value) noexcept
{
  if constexpr (Type == element::f64) return std::bit_cast<std::uint64_t>(value);
  if constexpr (Type == element::f16) return half_float::round_to<half_float::binary16>(value).bits;
  return std::bit_cast<std::uint32_t>(canonical(static_cast<float>(value)));
}

}  // namespace fatlink::interpreter
