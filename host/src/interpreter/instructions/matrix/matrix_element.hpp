// SPDX-License-Identifier: Apache-2.0
// The types of elements of matrices, and their values. Source: PTX ISA 9.0, "Matrix Data-types".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
unsigned bits_of(element type) noexcept;
/// Bits of the registers that hold elements: 64 for f64, otherwise 32.
inline unsigned register_bits(element type) noexcept
{
  return type == element::f64 ? 64 : 32;
}
inline bool is_whole(element type) noexcept
{
  return type >= element::s8 && type <= element::b1;
}

/// The value of a floating-point element with these bits.
double real_value(element type, std::uint64_t bits) noexcept;
/// The value of s8 to b1.
std::int64_t whole_value(element type, std::uint64_t bits) noexcept;
/// The bits of `value`, rounded to nearest: f16, f32 or f64.
std::uint64_t rounded_bits(element type, double value) noexcept;

}  // namespace fatlink::interpreter
