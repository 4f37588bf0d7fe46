// SPDX-License-Identifier: Apache-2.0
// Which elements of a matrix a thread's registers hold. Matrices A (M x K), B (K x N), C and D
// (M x N) are tiled. A tile of A or B is 8 rows (of B: columns) by 4 registers of elements along K;
// each thread has one register of each tile: thread 4·g + t has row g, elements t. A tile of C or D
// is 8 x 8; each thread has two elements of each: row g, columns 2·t and 2·t + 1. Tiles follow each
// other along M first in A, C and D, along K first in B. This is the layout of every mma, and that
// of the wmma fragments here, which PTX leaves open.
// Source: PTX ISA 9.0, "Matrix Fragments for mma".
#pragma once

#include "interpreter/instructions/matrix/matrix_element.hpp"

namespace fatlink::interpreter {

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

}  // namespace fatlink::interpreter
