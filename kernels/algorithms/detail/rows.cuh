// SPDX-License-Identifier: Apache-2.0
// How a tile of an array lies in the registers of a block: each warp holds consecutive rows, each
// lane 16 consecutive bytes of a row (or one element of 32 bytes), so that lane order is element
// order, and loads and stores are of 16 bytes, of lines that are used once. Of arrays that are not
// aligned to 16 bytes, only to their elements, lanes load what they hold element by element, or the
// words around it, and each warp stores its rows by way of shared memory.
#pragma once

#include <cstddef>

#include "copy_elements.cuh"
#include "lanes.cuh"

namespace fatlink_algorithms {

/// Elements of a lane in a row.
template <typename Element>
constexpr unsigned k_vector = sizeof(Element) < 16 ? 16 / sizeof(Element) : 1;

/// What a lane holds: `Rows` vectors of consecutive elements.
template <typename Element, unsigned Rows>
struct rows {
  Element vectors[Rows][k_vector<Element>];
};

/// Elements of a tile of `threads` threads.
template <typename Element, unsigned Rows>
__host__ __device__ constexpr unsigned tile_elements(unsigned threads)
{
  return threads * Rows * k_vector<Element>;
}

/// Index, within the tile, of the first element of this lane in `row`.
template <typename Element, unsigned Rows>
__device__ __forceinline__ unsigned index_in_tile(unsigned row)
{
  return ((warp_index() * Rows + row) * k_lanes + lane_index()) * k_vector<Element>;
}

/// Elements of a row of a warp.
template <typename Element>
constexpr unsigned k_row = k_lanes * k_vector<Element>;

/// Whether every array of such elements is aligned to vectors.
template <typename Element>
constexpr bool k_has_vectors = alignof(Element) >= sizeof(uint4);

template <typename Element>
__device__ __forceinline__ bool has_vectors(Element const* array)
{
  return k_has_vectors<Element> || reinterpret_cast<std::size_t>(array) % sizeof(uint4) == 0;
}

template <typename Element>
__device__ __forceinline__ void load_vector(Element* vector, Element const* in)
{
  constexpr unsigned k_quads = sizeof(Element) * k_vector<Element> / sizeof(uint4);
  uint4 quads[k_quads];
#pragma unroll
  for (unsigned k = 0; k < k_quads; ++k) {
    auto const* const quad = reinterpret_cast<uint4 const*>(in) + k;
    quads[k] = __ldcs(quad);
  }
  memcpy(vector, quads, sizeof(quads));
}

template <typename Element>
__device__ __forceinline__ void store_vector(Element* out, Element const* vector)
{
  constexpr unsigned k_quads = sizeof(Element) * k_vector<Element> / sizeof(uint4);
  uint4 quads[k_quads];
  memcpy(quads, vector, sizeof(quads));
#pragma unroll
  for (unsigned k = 0; k < k_quads; ++k) {
    auto* const quad = reinterpret_cast<uint4*>(out) + k;
    __stcs(quad, quads[k]);
  }
}

/// A vector at any address: the words around it, of which the first and the last may hold elements
/// beside it, shifted.
template <typename Element>
__device__ __forceinline__ void load_words(Element* vector, Element const* in)
{
  constexpr unsigned k_words = sizeof(uint4) / sizeof(unsigned);
  auto const place = reinterpret_cast<std::size_t>(in) % sizeof(unsigned);
  auto const* const first = reinterpret_cast<unsigned const*>(
      reinterpret_cast<unsigned char const*>(in) - place);
  unsigned words[k_words + 1];
#pragma unroll
  for (unsigned k = 0; k <= k_words; ++k) words[k] = __ldcs(first + k);
#pragma unroll
  for (unsigned k = 0; k < k_words; ++k)
    words[k] = __funnelshift_r(words[k], words[k + 1], static_cast<unsigned>(place) * 8);
  memcpy(vector, words, sizeof(uint4));
}

/// Stores a row of the warp at any address. `staged` is in shared memory of the warp: k_row
/// elements, aligned to 16 bytes.
template <typename Element>
__device__ __forceinline__ void store_row(Element* out, Element const* vector, Element* staged)
{
  __syncwarp();  // the row before may still be read
  uint4 bytes;
  memcpy(&bytes, vector, sizeof(bytes));
  reinterpret_cast<uint4*>(staged)[lane_index()] = bytes;
  __syncwarp();
  copy_elements<k_lanes>(out, staged, k_row<Element>, lane_index());
}

/// Row `row` of the first `count` elements at `in`, as load_tile.
template <typename Element, unsigned Rows>
__device__ __forceinline__ void load_elements(rows<Element, Rows>& tile, unsigned row,
                                              Element const* in, std::size_t count)
{
  auto const first = index_in_tile<Element, Rows>(row);
#pragma unroll
  for (unsigned k = 0; k < k_vector<Element>; ++k)
    tile.vectors[row][k] = in[first + k < count ? first + k : 0];
}

/// The first `count` elements at `in`; count > 0. What lies beyond them in a tile of `size`
/// elements is the first one, so that hooks see elements of the array only.
template <typename Element, unsigned Rows>
__device__ __forceinline__ void load_tile(rows<Element, Rows>& tile, Element const* in,
                                          std::size_t count, unsigned size)
{
  auto const is_full = count >= size;
  auto const is_aligned = has_vectors(in);
#pragma unroll
  for (unsigned row = 0; row < Rows; ++row) {
    auto const first = index_in_tile<Element, Rows>(row);
    // Words around the first and the last vector may be outside of the array.
    if (is_full && is_aligned)
      load_vector(tile.vectors[row], in + first);
    else if (sizeof(Element) == 1 && is_full && first > 0 &&
             first + k_vector<Element> < size)
      load_words(tile.vectors[row], in + first);
    else
      load_elements(tile, row, in, count);
  }
}

/// Stores the first `count` elements of the tile, of `size` elements, at `out`. `staged` is in
/// shared memory: k_row elements for each warp, aligned to 16 bytes; unused if k_has_vectors.
template <typename Element, unsigned Rows>
__device__ __forceinline__ void store_tile(Element* out, rows<Element, Rows> const& tile,
                                           std::size_t count, unsigned size, Element* staged)
{
  auto const is_full = count >= size;
  auto const is_aligned = has_vectors(out);
#pragma unroll
  for (unsigned row = 0; row < Rows; ++row) {
    auto const first = index_in_tile<Element, Rows>(row);
    if (is_full && is_aligned) {
      store_vector(out + first, tile.vectors[row]);
    } else if (!k_has_vectors<Element> && is_full) {
      store_row(out + first - lane_index() * k_vector<Element>, tile.vectors[row],
                staged + warp_index() * k_row<Element>);
    } else {
#pragma unroll
      for (unsigned k = 0; k < k_vector<Element>; ++k)
        if (first + k < count) out[first + k] = tile.vectors[row][k];
    }
  }
}

}  // namespace fatlink_algorithms
