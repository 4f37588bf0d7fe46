// SPDX-License-Identifier: Apache-2.0
// Folds a range of elements with a warp, in order: combine need not be commutative. The association
// follows from the range only, so results are the same on each device and in each run.
//
// A warp reads a tile of `Rows` rows at a time. A row is 32 packs, one for each lane, and a pack is
// `Vectors` times 16 bytes of elements (of 32 bytes: `Vectors` elements).
#pragma once

#include <cstddef>

#include "shuffle.cuh"

namespace fatlink_algorithms {

/// Shape of the tiles of elements of `Bytes` bytes. `Rows` is a power of two, at most 32.
template <unsigned Bytes, unsigned Rows, unsigned Vectors>
struct tile_shape {
  static constexpr unsigned rows = Rows;
  static constexpr unsigned pack = Vectors * (Bytes < 16 ? 16 / Bytes : 1);  // elements
  static constexpr unsigned row = k_warp * pack;
};

template <unsigned Count, typename Element, typename Combine>
__device__ __forceinline__ Element fold_pack(Element const (&items)[Count], Combine combine)
{
  auto total = items[0];
#pragma unroll
  for (unsigned k = 1; k < Count; ++k) total = combine(total, items[k]);
  return total;
}

/// Folds rows of one value for each lane: row 0 first, and of these the first `count` rows.
/// Lane 0 gets the result, and all lanes if all rows count. Halving the rows while pairing the
/// lanes takes Rows + log2(32) shuffles instead of 5 Rows.
template <unsigned Rows, typename Element, typename Combine>
__device__ __forceinline__ Element fold_rows(Element (&rows)[Rows], unsigned count, Combine combine)
{
#pragma unroll
  for (unsigned half = Rows / 2, mask = 1; half > 0; half /= 2, mask *= 2) {
#pragma unroll
    for (unsigned k = 0; k < half; ++k)
      rows[k] = combine_rows(rows[2 * k], rows[2 * k + 1], mask, combine);
  }
  // Now the low bits of the lane are the row, the high ones the column of `Rows` lanes.
  auto total = rows[0];
#pragma unroll
  for (unsigned mask = Rows; mask < k_warp; mask *= 2) total = combine_pair(total, mask, combine);
  auto const row = lane_index() % Rows;
#pragma unroll
  for (unsigned mask = 1; mask < Rows; mask *= 2) {
    auto const pair = combine_pair(total, mask, combine);
    // The lower lane may have no partner; the upper one then gets nothing that counts.
    total = select((row & ~(2 * mask - 1)) + mask < count, pair, total);
  }
  return total;
}

/// Folds the elements from pack `first` up to element `last`: one at least. Lane 0 gets the result.
template <typename Shape, typename Source, typename Combine>
__device__ __forceinline__ auto warp_fold(Source const& source, std::size_t first, std::size_t last,
                                          Combine combine)
{
  using element = typename Source::element;
  auto const lane = lane_index();
  element total;
  bool empty = true;
  for (; first * Shape::pack + Shape::row <= last; first += Shape::rows * k_warp) {
    auto const rows = (last - first * Shape::pack) / Shape::row;
    auto const count = static_cast<unsigned>(min(rows, std::size_t{Shape::rows}));
    element items[Shape::rows][Shape::pack];
    source.load_rows(first + lane, count, items);
    element values[Shape::rows];
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) values[r] = fold_pack(items[r], combine);
    auto const tile = fold_rows(values, count, combine);
    total = empty ? tile : combine(total, tile);
    empty = false;
    if (count < Shape::rows) {
      first += count * k_warp;
      break;
    }
  }
  if (first * Shape::pack < last) {  // part of a row
    auto const count = static_cast<unsigned>(last - first * Shape::pack);
    auto const packs = (count + Shape::pack - 1) / Shape::pack;
    auto const start = min(lane, packs - 1) * Shape::pack;
    auto const pack =
        source.template fold_some<Shape::pack>(first * Shape::pack + start, count - start, combine);
    auto const value = fold_lanes(pack, packs, combine);
    if (lane == 0) total = empty ? value : combine(total, value);
  }
  return total;
}

}  // namespace fatlink_algorithms
