// SPDX-License-Identifier: Apache-2.0
// Where algorithms read elements from: an array of elements, or what the hook `load` computes from
// an array. Folds read packs of consecutive elements.
#pragma once

#include <cstddef>

namespace fatlink_algorithms {

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

/// An array that is aligned to 16 bytes: its packs only.
template <typename Element, written When>
struct aligned_source {
  using element = Element;
  Element const* in;

  template <unsigned Pack>
  __device__ __forceinline__ void load_pack(std::size_t index, Element (&items)[Pack]) const
  {
    load_items(index * Pack, items);
  }

  /// The elements from `index` on, a multiple of Pack.
  template <unsigned Pack>
  __device__ __forceinline__ void load_items(std::size_t index, Element (&items)[Pack]) const
  {
    load_vectors<When>(in + index, items);
  }
};

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

  __device__ __forceinline__ Element const& operator[](std::size_t index) const
  {
    return in[index];
  }

  /// The same array, for full packs, without a test of its alignment; only if `aligned`.
  __device__ __forceinline__ aligned_source<Element, When> as_aligned() const { return {in}; }

  /// Pack `index`.
  template <unsigned Pack>
  __device__ __forceinline__ void load_pack(std::size_t index, Element (&items)[Pack]) const
  {
    auto const* first = in + index * Pack;
    if (aligned) {
      load_vectors<When>(first, items);
      return;
    }
#pragma unroll
    for (unsigned k = 0; k < Pack; ++k) items[k] = first[k];
  }

  /// The first `count` elements of pack `index`: one at least. Others keep their value.
  template <unsigned Pack>
  __device__ __forceinline__ void load_some(std::size_t index, unsigned count,
                                            Element (&items)[Pack]) const
  {
    if (count == Pack && aligned) {
      load_vectors<When>(in + index * Pack, items);
      return;
    }
    load_elements(index * Pack, count, items);
  }

  /// The first `count` elements from `index` on. Others keep their value.
  template <unsigned Pack>
  __device__ __forceinline__ void load_elements(std::size_t index, unsigned count,
                                                Element (&items)[Pack]) const
  {
#pragma unroll
    for (unsigned k = 0; k < Pack; ++k)
      if (k < count) items[k] = in[index + k];
  }
};

/// What `Load` computes from an array: element k is load(in, first + k, state).
template <typename Element, typename Load>
struct hook_source {
  using element = Element;
  void const* in;
  void const* state;
  Load hook;
  bool aligned;  ///< `in`, to 16 bytes
  std::size_t first = 0;

  __device__ __forceinline__ Element operator[](std::size_t index) const
  {
    return hook(in, first + index, state);
  }

  /// The elements from `index` on.
  __device__ __forceinline__ hook_source operator+(std::size_t index) const
  {
    return {in, state, hook, aligned, first + index};
  }

  /// The same elements, only if `aligned`, which lets the loads of an inlined hook be joined.
  __device__ __forceinline__ hook_source as_aligned() const
  {
    return {__builtin_assume_aligned(in, sizeof(uint4)), state, hook, true, first};
  }

  template <unsigned Pack>
  __device__ __forceinline__ void load_pack(std::size_t index, Element (&items)[Pack]) const
  {
#pragma unroll
    for (unsigned k = 0; k < Pack; ++k) items[k] = (*this)[index * Pack + k];
  }

  template <unsigned Pack>
  __device__ __forceinline__ void load_items(std::size_t index, Element (&items)[Pack]) const
  {
#pragma unroll
    for (unsigned k = 0; k < Pack; ++k) items[k] = (*this)[index + k];
  }

  template <unsigned Pack>
  __device__ __forceinline__ void load_some(std::size_t index, unsigned count,
                                            Element (&items)[Pack]) const
  {
    load_elements(index * Pack, count, items);
  }

  template <unsigned Pack>
  __device__ __forceinline__ void load_elements(std::size_t index, unsigned count,
                                                Element (&items)[Pack]) const
  {
#pragma unroll
    for (unsigned k = 0; k < Pack; ++k)
      if (k < count) items[k] = (*this)[index + k];
  }
};

}  // namespace fatlink_algorithms
