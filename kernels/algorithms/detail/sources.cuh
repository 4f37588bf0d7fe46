// SPDX-License-Identifier: Apache-2.0
// Where a fold reads elements from, packs of consecutive ones at a time: an array of elements, or
// what the hook `load` makes of an array.
#pragma once

#include <cstddef>

#include "shuffle.cuh"

namespace fatlink_algorithms {

/// Folds the first `count` of Pack elements (all of them, if it is larger): one at least.
template <unsigned Pack, typename Read, typename Combine>
__device__ __forceinline__ auto fold_first(Read read, unsigned count, Combine combine)
{
  auto total = read(0);
#pragma unroll
  for (unsigned k = 1; k < Pack; ++k)
    if (k < count) total = combine(total, read(k));
  return total;
}

/// Whether memory is read-only while a kernel runs, or written by a launch that it overlaps.
enum class written { before, during };

/// Reads Pack elements at `in`, which is aligned to 16 bytes: so many bytes at a time.
template <written When, unsigned Pack, typename Element>
__device__ __forceinline__ void load_vectors(Element const* in, Element (&items)[Pack])
{
  struct vectors {
    uint4 words[Pack * sizeof(Element) / sizeof(uint4)];
  };
  struct elements {
    Element items[Pack];
  };
  vectors bytes;
#pragma unroll
  for (unsigned k = 0; k < sizeof bytes / sizeof(uint4); ++k) {
    auto const* const address = reinterpret_cast<uint4 const*>(in) + k;
    bytes.words[k] = When == written::before ? __ldg(address) : *address;
  }
  auto const loaded = __builtin_bit_cast(elements, bytes);
#pragma unroll
  for (unsigned k = 0; k < Pack; ++k) items[k] = loaded.items[k];
}

/// An array, read 16 bytes at a time if it is aligned to as much.
template <typename Element, written When = written::before>
struct array_source {
  using element = Element;
  Element const* in;
  bool aligned;

  __device__ __forceinline__ explicit array_source(Element const* address)
      : in{address}, aligned{reinterpret_cast<std::size_t>(address) % sizeof(uint4) == 0}
  {
  }

  /// The pack `first` of the lane and those of the following rows. From row `count` on, which is
  /// at least 1, the last row is repeated.
  template <unsigned Rows, unsigned Pack>
  __device__ __forceinline__ void load_rows(std::size_t first, unsigned count,
                                            Element (&items)[Rows][Pack]) const
  {
    auto const* address = in + first * Pack;
    if (aligned) {
#pragma unroll
      for (unsigned r = 0; r < Rows; ++r)
        load_vectors<When>(address + min(r, count - 1) * (k_warp * Pack), items[r]);
      return;
    }
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
#pragma unroll
      for (unsigned k = 0; k < Pack; ++k)
        items[r][k] = address[min(r, count - 1) * (k_warp * Pack) + k];
  }

  template <unsigned Pack, typename Combine>
  __device__ __forceinline__ Element fold_some(std::size_t index, unsigned count,
                                               Combine combine) const
  {
    auto const* first = in + index;
    return fold_first<Pack>([=](unsigned k) { return first[k]; }, count, combine);
  }
};

/// What `Load` makes of the elements of an array: load(in, index, state).
template <typename Element, typename Load>
struct hook_source {
  using element = Element;
  void const* in;
  void const* state;
  Load hook;

  template <unsigned Rows, unsigned Pack>
  __device__ __forceinline__ void load_rows(std::size_t first, unsigned count,
                                            Element (&items)[Rows][Pack]) const
  {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
#pragma unroll
      for (unsigned k = 0; k < Pack; ++k)
        items[r][k] = hook(in, (first + min(r, count - 1) * k_warp) * Pack + k, state);
  }

  template <unsigned Pack, typename Combine>
  __device__ __forceinline__ Element fold_some(std::size_t index, unsigned count,
                                               Combine combine) const
  {
    return fold_first<Pack>([=](unsigned k) { return hook(in, index + k, state); }, count, combine);
  }
};

}  // namespace fatlink_algorithms
