// SPDX-License-Identifier: Apache-2.0
// The loop of the kernels of map: each index below n once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../detail/shuffle.cuh"

namespace fatlink_algorithms {

/// Calls map(i) for each i < n. A block takes a tile of Threads * Groups * Consecutive indices; a
/// thread takes groups of consecutive ones, so that the loads and stores of inlined hooks can be
/// joined to wide ones.
template <unsigned Consecutive, unsigned Groups, unsigned Threads, typename Map>
__device__ __forceinline__ void map_tile(std::size_t n, Map map)
{
  constexpr unsigned k_tile = Threads * Groups * Consecutive;
  auto const tile = std::size_t{blockIdx.x} * k_tile;
  if (tile + k_tile <= n) {
    auto const group = std::size_t{blockIdx.x} * (Threads * Groups) + threadIdx.x;
#pragma unroll
    for (unsigned g = 0; g < Groups; ++g)
#pragma unroll
      for (unsigned k = 0; k < Consecutive; ++k) map((group + g * Threads) * Consecutive + k);
    return;
  }
  for (auto i = tile + threadIdx.x; i < n; i += Threads) map(i);
}

/// Whether all addresses are multiples of 16.
template <typename... Addresses>
__device__ __forceinline__ bool are_aligned(Addresses const*... addresses)
{
  return ((reinterpret_cast<std::uintptr_t>(addresses) | ...) & 15U) == 0;
}

}  // namespace fatlink_algorithms
