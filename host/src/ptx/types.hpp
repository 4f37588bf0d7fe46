// SPDX-License-Identifier: Apache-2.0
// PTX's fundamental types and state spaces. Source: PTX ISA 9.0, "State Spaces, Types, and
// Variables".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fatlink::ptx {

enum class type : std::uint8_t {
  pred,
  b128,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  f32x2,
};

/// "f32" → type::f32; nullopt for any other word.
std::optional<type> parse_type(std::string_view word) noexcept;
/// Size in bytes; 0 for pred.
unsigned size_of(type type) noexcept;
bool is_signed(type type) noexcept;
/// f16 to f64, including packed types.
bool is_float(type type) noexcept;
/// u8 to s64, and the untyped b8 to b64, not b128.
bool is_integer(type type) noexcept;

enum class space : std::uint8_t { generic, global, constant, shared, local, param };

/// "global" → space::global, "const" → space::constant; nullopt for any other word.
std::optional<space> parse_space(std::string_view word) noexcept;

}  // namespace fatlink::ptx
