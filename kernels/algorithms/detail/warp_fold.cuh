// SPDX-License-Identifier: Apache-2.0
// Folds a range of elements with a warp, in order: combine need not be commutative. The association
// follows from the range only, so results are the same on each device and in each run.
//
// A warp reads a tile of `Rows` rows at a time. A row is 32 packs, one for each lane, and a pack is
// `Vectors` times 16 bytes of elements (of 32 bytes: `Vectors` elements).
//
// The time of a link grows with the number of places where the operator is expanded, so a kernel
// states how it reads its ranges (`reading`): with few expansions, or with few registers.
#pragma once

#include <cstddef>

#include "fold_items.cuh"
#include "fold_rows.cuh"
#include "sources.cuh"

namespace fatlink_algorithms {

/// Shape of the tiles of elements of `Bytes` bytes. `Rows` is a power of two, at most 32; `Vectors`
/// is 1 or 2.
template <unsigned Bytes, unsigned Rows, unsigned Vectors>
struct tile_shape {
  static constexpr unsigned rows = Rows;
  static constexpr unsigned pack = Vectors * (Bytes < 16 ? 16 / Bytes : 1);  // elements
  static constexpr unsigned row = k_warp * pack;                             // elements
  static constexpr unsigned tile_packs = Rows * k_warp;
  static constexpr unsigned tile = Rows * row;  // elements

  /// What fold_parts reads at a time: a tile, or half of one of two vectors.
  static constexpr unsigned parts = Vectors;
  using part = tile_shape<Bytes, Rows, Vectors / parts>;
};

/// How a warp reads its elements. The results are the same.
enum class reading {
  parts,       // by fold_parts, for few elements: the least code
  tiles,       // full tiles by fold_tiles, and one part
  fast_tiles,  // full tiles of an aligned array by fold_tiles, without a test in the loop, and
               // everything else by fold_parts
};

/// Folds `tiles` tiles from pack `first` on: one at least. Lane 0 gets the result.
template <typename Shape, typename Source, typename Combine>
__device__ __forceinline__ auto fold_tiles(Source const& source, std::size_t first,
                                           std::size_t tiles, Combine combine)
{
  using element = typename Source::element;
  element total;
  for (std::size_t t = 0; t < tiles; ++t, first += Shape::tile_packs) {
    element items[Shape::rows][Shape::pack];
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r)
      source.load_pack(first + r * k_warp + lane_index(), items[r]);
    element values[Shape::rows];
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r)
      values[r] = fold_items(items[r], Shape::pack, combine);
    auto const tile = fold_rows(values, full_rows{}, combine);
    total = t == 0 ? tile : combine(total, tile);
  }
  return total;
}

/// Folds `count` elements from pack `first` on: one at least, at most a tile. All loads are begun
/// before the first one is waited for. Lane 0 gets the result.
template <typename Shape, typename Source, typename Combine>
__device__ __forceinline__ auto fold_part(Source const& source, std::size_t first, unsigned count,
                                          Combine combine)
{
  using element = typename Source::element;
  auto const rows = (count - 1) / Shape::row;
  auto const rest = count - rows * Shape::row;  // of the last row
  auto const packs = (rest + Shape::pack - 1) / Shape::pack;

  element items[Shape::rows - 1][Shape::pack];
#pragma unroll
  for (unsigned r = 0; r < Shape::rows - 1; ++r)
    if (r < rows) source.load_pack(first + r * k_warp + lane_index(), items[r]);
  auto const start = min(lane_index(), packs - 1);
  auto const size = min(rest - start * Shape::pack, Shape::pack);
  element last[Shape::pack];
  source.load_some(first + rows * k_warp + start, size, last);

  auto const value = fold_items(last, size, combine);
  element values[Shape::rows];
#pragma unroll
  for (unsigned r = 0; r < Shape::rows - 1; ++r)
    values[r] = r < rows ? fold_items(items[r], Shape::pack, combine) : value;
  values[Shape::rows - 1] = value;
  return fold_rows(values, rows_and_part{rows, packs}, combine);
}

/// `total` combined with the elements from pack `first` up to element `last`: one at least. Without
/// a total, those elements. `first` is the beginning of a tile. Lane 0 gets the result. The
/// association is that of fold_tiles.
template <typename Shape, typename Source, typename Element, typename Combine>
__device__ __forceinline__ Element fold_parts(Source const& source, std::size_t first,
                                              std::size_t last, Element total, bool has_total,
                                              Combine combine)
{
  using part = typename Shape::part;
  Element half;
  auto has_half = false;
  first *= Shape::parts;
#pragma unroll 1
  for (std::size_t left = last - first * part::pack; left > 0; first += part::tile_packs) {
    auto const count = static_cast<unsigned>(min(left, std::size_t{part::tile}));
    left -= count;
    auto value = fold_part<part>(source, first, count, combine);
    if (has_half) value = combine(half, value);
    has_half = Shape::parts == 2 && !has_half && left > 0;
    half = value;
    if (has_half) continue;
    total = has_total ? combine(total, value) : value;
    has_total = true;
  }
  return total;
}

/// Folds the elements from pack `first` up to element `last`: one at least. Lane 0 gets the result.
template <typename Shape, typename Source, typename Combine>
__device__ __forceinline__ auto warp_fold(Source const& source, std::size_t first, std::size_t last,
                                          Combine combine)
{
  auto const tiles = (last - first * Shape::pack) / Shape::tile;
  typename Source::element total;
  if (tiles > 0) total = fold_tiles<Shape>(source, first, tiles, combine);
  first += tiles * Shape::tile_packs;
  auto const rest = static_cast<unsigned>(last - first * Shape::pack);
  if (rest > 0) {
    auto const part = fold_part<Shape>(source, first, rest, combine);
    total = tiles > 0 ? combine(total, part) : part;
  }
  return total;
}

/// As warp_fold, with less code (see `reading`).
template <typename Shape, reading Reading, typename Source, typename Combine>
__device__ __forceinline__ auto compact_warp_fold(Source const& source, std::size_t first,
                                                  std::size_t last, Combine combine)
{
  typename Source::element total{};
  auto has_total = false;
  if constexpr (Reading == reading::fast_tiles) {
    auto const tiles = (last - first * Shape::pack) / Shape::tile;
    has_total = source.aligned && tiles > 0;
    if (has_total) {
      total = fold_tiles<Shape>(source.as_aligned(), first, tiles, combine);
      first += tiles * Shape::tile_packs;
    }
  }
  return fold_parts<Shape>(source, first, last, total, has_total, combine);
}

}  // namespace fatlink_algorithms
