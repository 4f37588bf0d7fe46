// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/matrix/fragment.hpp"

namespace fatlink::interpreter {

matrix_place fragment::place(unsigned lane, unsigned number, unsigned index) const noexcept
{
  constexpr unsigned k_tile = 8;
  auto const g = lane / 4;
  auto const t = lane % 4;
  if (role == matrix_role::accumulator) {
    auto const element = number * packing() + index;
    auto const tile = element / 2;
    return {tile % (rows / k_tile) * k_tile + g,
            tile / (rows / k_tile) * k_tile + 2 * t + element % 2};
  }
  auto const depth = 4 * packing();  // of a tile, along K
  auto const along = t * packing() + index;
  auto const tile = number % needed_registers();
  if (role == matrix_role::a)
    return {tile % (rows / k_tile) * k_tile + g, tile / (rows / k_tile) * depth + along};
  return {tile % (rows / depth) * depth + along, tile / (rows / depth) * k_tile + g};
}

fragment make_fragment(matrix_role role, element type, unsigned rows, unsigned columns) noexcept
{
  fragment result{role, type, rows, columns, 0};
  result.registers = result.needed_registers();
  return result;
}

}  // namespace fatlink::interpreter
