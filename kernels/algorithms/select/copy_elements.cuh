// SPDX-License-Identifier: Apache-2.0
// Copies elements from shared to global memory, by all threads of a block.
#pragma once

#include <cstddef>
#include <cstring>

namespace fatlink_algorithms {

/// Stores several small elements at once, those before and after whole words one by one.
template <unsigned Threads, typename Element>
__device__ __forceinline__ void copy_words(Element* out, Element const* from, unsigned count)
{
  constexpr auto k_pack = static_cast<unsigned>(sizeof(unsigned) / sizeof(Element));
  auto const place = reinterpret_cast<std::size_t>(out) / sizeof(Element);
  auto const head = min(static_cast<unsigned>(-place % k_pack), count);
  auto const words = (count - head) / k_pack;
  auto const tail = head + words * k_pack;
#pragma unroll 4
  for (auto word = threadIdx.x; word < words; word += Threads) {
    Element elements[k_pack];
#pragma unroll
    for (unsigned k = 0; k < k_pack; ++k) elements[k] = from[head + word * k_pack + k];
    unsigned bits;
    memcpy(&bits, elements, sizeof(bits));
    reinterpret_cast<unsigned*>(out + head)[word] = bits;
  }
  if (threadIdx.x < head) out[threadIdx.x] = from[threadIdx.x];
  if (threadIdx.x < count - tail) out[tail + threadIdx.x] = from[tail + threadIdx.x];
}

/// Copies `count` elements.
template <unsigned Threads, typename Element>
__device__ __forceinline__ void copy_elements(Element* out, Element const* from, unsigned count)
{
  if constexpr (sizeof(Element) < sizeof(unsigned)) {
    copy_words<Threads>(out, from, count);
  } else {
#pragma unroll 4
    for (auto k = threadIdx.x; k < count; k += Threads) out[k] = from[k];
  }
}

}  // namespace fatlink_algorithms
