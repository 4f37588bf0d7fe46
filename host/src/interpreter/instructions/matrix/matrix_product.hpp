// SPDX-License-Identifier: Apache-2.0
// D = A·B + C of a warp, for mma and wmma.mma.
// f16, bf16, tf32 and fp8: C and the products, which are exact, are added in double in the order of
// k, and the sum is rounded once to the type of D, to nearest. f64: a chain of fma in the order of
// k. Integers: exact, then modulo 2^32, or clamped with .satfinite. b1: the number of ones.
#pragma once

#include "interpreter/decode/decoder.hpp"
#include "interpreter/instructions/matrix/fragment.hpp"

namespace fatlink::interpreter {

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
/// @throws failure (invalid) another number of registers than `shape` has.
std::vector<operand_offset> fragment_registers(decoding& d, syntax::operand const& operand,
                                               fragment const& shape, bool writes);

/// Takes .satfinite, .xor.popc and .and.popc. @throws failure (refused) .popc alone.
void take_product_modifiers(decoding& d, matrix_product& product);
/// Takes the type of a matrix. @throws failure (refused) another word.
element take_element(decoding& d);
/// Whether products of elements `input` are added to elements `type`.
bool can_accumulate(element input, element type) noexcept;
/// @throws failure (refused) modifiers that the types do not have.
void check_product_modifiers(decoding const& d, matrix_product const& product);

/// Adds the operation; the operands are D, A, B, C.
void emit_product(decoding& d, matrix_product const& product);

/// "m16n8k16" → {16, 8, 16}; false for any other word.
bool parse_shape(std::string_view word, matrix_product& product) noexcept;

}  // namespace fatlink::interpreter
