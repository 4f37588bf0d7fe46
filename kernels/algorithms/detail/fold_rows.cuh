// SPDX-License-Identifier: Apache-2.0
// Folds rows of one value for each lane of a warp, in order: row 0 first, and in each row lane 0
// first. Halving the rows while pairing the lanes takes Rows + log2(32) shuffles instead of 5 Rows.
#pragma once

#include "shuffle.cuh"

namespace fatlink_algorithms {

/// All lanes of all rows have values.
struct full_rows {
  /// Whether lane `lane` of row `row` has one.
  __device__ __forceinline__ bool has(unsigned, unsigned) const { return true; }
};

/// All lanes of the first `rows` rows have values, and the first `lanes` lanes of the row after
/// them: one at least.
struct rows_and_part {
  unsigned rows;
  unsigned lanes;
  __device__ __forceinline__ bool has(unsigned row, unsigned lane) const
  {
    return row < rows || (row == rows && lane < lanes);
  }
};

/// Two rows of values to one: the lower lane of a pair combines both lanes' `a`, the upper one `b`.
/// If not `both`, it takes the value of the lower lane.
template <typename Element, typename Combine>
__device__ __forceinline__ Element combine_rows(Element const& a, Element const& b, unsigned mask,
                                                bool both, Combine combine)
{
  auto const upper = (lane_index() & mask) != 0;
  auto const other = shuffle_xor(select(upper, a, b), mask);
  auto const left = select(upper, other, a);
  return select(both, combine(left, select(upper, b, other)), left);
}

/// Lane 0 gets the result. Lanes that have no value hold one that combine may be called with.
template <unsigned Rows, typename Extent, typename Element, typename Combine>
__device__ __forceinline__ Element fold_rows(Element (&values)[Rows], Extent extent,
                                             Combine combine)
{
  auto const lane = lane_index();
  // After each step the low bits of the lane choose one of the rows that values[k] stood for.
#pragma unroll
  for (unsigned mask = 1; mask < Rows; mask *= 2) {
    auto const bits = 2 * mask - 1;
#pragma unroll
    for (unsigned k = 0; k < Rows / 2 / mask; ++k) {
      auto const both = extent.has(2 * mask * k + (lane & bits), (lane & ~bits) + mask);
      values[k] = combine_rows(values[2 * k], values[2 * k + 1], mask, both, combine);
    }
  }
  auto const row = lane % Rows;
  auto total = values[0];
#pragma unroll
  for (unsigned delta = Rows; delta < k_warp; delta *= 2)
    total = combine_down(total, delta, extent.has(row, lane - row + delta), combine);
#pragma unroll
  for (unsigned delta = 1; delta < Rows; delta *= 2)
    total = combine_down(total, delta, extent.has(row + delta, 0), combine);
  return total;
}

}  // namespace fatlink_algorithms
