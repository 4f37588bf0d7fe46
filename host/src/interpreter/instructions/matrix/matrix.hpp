// SPDX-License-Identifier: Apache-2.0
// Matrices of a warp: their elements, which of them a thread's registers hold, and products.
// Source: PTX ISA 9.0, "Matrix Data-types", "Matrix Fragments for mma".
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {

// The types of elements of matrices, and their values.

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

// Which elements of a matrix a thread's registers hold. Matrices A (M x K), B (K x N), C and D
// (M x N) are tiled. A tile of A or B is 8 rows (of B: columns) by 4 registers of elements along K;
// each thread has one register of each tile: thread 4·g + t has row g, elements t. A tile of C or D
// is 8 x 8; each thread has two elements of each: row g, columns 2·t and 2·t + 1. Tiles follow each
// other along M first in A, C and D, along K first in B. This is the layout of every mma, and that
// of the wmma fragments here, which PTX leaves open.
// Source: PTX ISA 9.0, "Matrix Fragments for mma".

enum class matrix_role : std::uint8_t { a, b, accumulator };

struct matrix_place {
  unsigned row = 0;
  unsigned column = 0;
};

struct fragment {
  matrix_role role = matrix_role::a;
  element type = element::f16;
  unsigned rows = 0;
  unsigned columns = 0;
  unsigned registers = 0;  ///< of a thread; more than the elements need: they repeat

  /// Elements in a register.
  [[nodiscard]] unsigned packing() const noexcept { return register_bits(type) / bits_of(type); }
  /// Registers of a thread that the elements need.
  [[nodiscard]] unsigned needed_registers() const noexcept
  {
    return rows * columns / 32 / packing();
  }
  /// Where element `index` of register `number` of a thread is in the matrix.
  [[nodiscard]] matrix_place place(unsigned lane, unsigned number, unsigned index) const noexcept;
};

/// Makes a fragment whose registers are those that its elements need.
fragment make_fragment(matrix_role role, element type, unsigned rows, unsigned columns) noexcept;

// D = A·B + C of a warp, for mma and wmma.mma.
// f16, bf16, tf32 and fp8: C and the products, which are exact, are added in double in the order of
// k, and the sum is rounded once to the type of D, to nearest. f64: a chain of fma in the order of
// k. Integers: exact, then modulo 2^32, or clamped with .satfinite. b1: the number of ones.

/// What is counted of b1; the products of other types have none.
enum class bit_product : std::uint8_t { none, exclusive_or, conjunction };

struct matrix_product {
  unsigned m = 0;
  unsigned n = 0;
  unsigned k = 0;
  element a = element::f16;
  element b = element::f16;
  element c = element::f32;
  element d = element::f32;
  bool saturates = false;
  bit_product bits = bit_product::none;
  bool is_wmma = false;  ///< f16 operands have 8 registers, whatever their number of elements
};

fragment fragment_a(matrix_product const& product) noexcept;
fragment fragment_b(matrix_product const& product) noexcept;
fragment fragment_c(matrix_product const& product) noexcept;
fragment fragment_d(matrix_product const& product) noexcept;

/// The registers of a matrix operand: {…}, or one register.
/// @throws code_error (invalid) another number of registers than `shape` has.
std::vector<operand_offset> fragment_registers(decoding& d, syntax::operand const& operand,
                                               fragment const& shape, bool writes);

/// Takes .satfinite, .xor.popc and .and.popc. @throws code_error (refused) .popc alone.
void take_product_modifiers(decoding& d, matrix_product& product);
/// Takes the type of a matrix. @throws code_error (refused) another word.
element take_element(decoding& d);
/// Whether products of elements `input` are added to elements `type`.
bool can_accumulate(element input, element type) noexcept;
/// @throws code_error (refused) modifiers that the types do not have.
void check_product_modifiers(decoding const& d, matrix_product const& product);

/// Adds the operation; the operands are D, A, B, C.
void emit_product(decoding& d, matrix_product const& product);

/// "m16n8k16" → {16, 8, 16}; false for any other word.
bool parse_shape(std::string_view word, matrix_product& product) noexcept;

}  // namespace fatlink::interpreter
