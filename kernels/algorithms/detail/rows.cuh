// SPDX-License-Identifier: Apache-2.0
// How a tile of an array lies in the registers of a block: each warp holds consecutive rows, each
// lane 16 consecutive bytes of a row (or one element of 32 bytes), so that lane order is element
// order, and loads and stores are of 16 bytes, of lines that are used once. Of arrays that are not
// aligned to 16 bytes, only to their elements, lanes load element by element, and each warp stores
// its rows by way of shared memory.
#pragma once

#include <cstddef>

#include "lanes.cuh"
#include "sources.cuh"

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
constexpr unsigned k_row = k_lanes* k_vector<Element>;

/// Whether every array of such elements is aligned to vectors.
template <typename Element>
constexpr bool k_is_aligned = alignof(Element) >= sizeof(uint4);

template <typename Element>
__device__ __forceinline__ bool is_aligned(Element const* array)
{
  return k_is_aligned<Element> || reinterpret_cast<std::size_t>(array) % sizeof(uint4) == 0;
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

/// Stores the first `count` elements of a row of the warp, k_row at most, at any address. `staged`
/// is in shared memory of the warp: k_row elements, aligned to 16 bytes.
template <typename Element>
__device__ __forceinline__ void store_row(Element* out, Element const* vector, unsigned count,
                                          Element* staged)
{
  __syncwarp();  // the row before may still be read
  uint4 bytes;
  memcpy(&bytes, vector, sizeof(bytes));
  reinterpret_cast<uint4*>(staged)[lane_index()] = bytes;
  __syncwarp();
#pragma unroll 1  // unrolled, the link of a scan takes half as long again
  for (auto k = lane_index(); k < count; k += k_lanes) out[k] = staged[k];
}

/// The first `count` elements at `in`; count > 0. What lies beyond them in a tile of `size`
/// elements is the first one, so that hooks see elements of the array only.
template <typename Element, unsigned Rows>
__device__ __forceinline__ void load_tile(rows<Element, Rows>& tile, Element const* in,
                                          std::size_t count, unsigned size)
{
  auto const is_full = count >= size;
  auto const has_vectors = is_full && is_aligned(in);
#pragma unroll
  for (unsigned row = 0; row < Rows; ++row) {
    auto const first = index_in_tile<Element, Rows>(row);
    if (has_vectors) {
      load_vector(tile.vectors[row], in + first);
    } else if (is_full) {
#pragma unroll
      for (unsigned k = 0; k < k_vector<Element>; ++k) tile.vectors[row][k] = in[first + k];
    } else {
#pragma unroll
      for (unsigned k = 0; k < k_vector<Element>; ++k)
        tile.vectors[row][k] = in[first + k < count ? first + k : 0];
    }
  }
}

/// The same of what a hook computes. If `in` is aligned, the loads of an inlined hook are joined.
template <typename Element, unsigned Rows, typename Load>
__device__ __forceinline__ void load_tile(rows<Element, Rows>& tile,
                                          hook_source<Element, Load> const& in, std::size_t count,
                                          unsigned size)
{
  auto const aligned = in.as_aligned();
  auto const is_joined = in.aligned && count >= size;
#pragma unroll
  for (unsigned row = 0; row < Rows; ++row) {
    auto const first = index_in_tile<Element, Rows>(row);
    if (is_joined) {
#pragma unroll
      for (unsigned k = 0; k < k_vector<Element>; ++k) tile.vectors[row][k] = aligned[first + k];
    } else {
#pragma unroll
      for (unsigned k = 0; k < k_vector<Element>; ++k)
        tile.vectors[row][k] = in[first + k < count ? first + k : 0];
    }
  }
}

/// Stores the first `count` elements of the tile, of `size` elements, at `out`. `staged` is in
/// shared memory: k_row elements for each warp, aligned to 16 bytes; unused if k_is_aligned.
template <typename Element, unsigned Rows>
__device__ __forceinline__ void store_tile(Element* out, rows<Element, Rows> const& tile,
                                           std::size_t count, unsigned size, Element* staged)
{
  auto const has_vectors = count >= size && is_aligned(out);
  auto const end = count < size ? static_cast<unsigned>(count) : size;
#pragma unroll
  for (unsigned row = 0; row < Rows; ++row) {
    auto const first = index_in_tile<Element, Rows>(row);
    if (has_vectors) {
      store_vector(out + first, tile.vectors[row]);
    } else if (k_is_aligned<Element>) {
      if (first < end) out[first] = tile.vectors[row][0];
    } else {
      auto const begin = first - lane_index() * k_vector<Element>;
      store_row(out + begin, tile.vectors[row], end > begin ? min(end - begin, k_row<Element>) : 0,
                staged + warp_index() * k_row<Element>);
    }
  }
}

}  // namespace fatlink_algorithms
