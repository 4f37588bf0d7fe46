// SPDX-License-Identifier: Apache-2.0
// The loop of the kernels of map: each index below n once. There is a kernel for each number of
// consecutive indices that a thread takes, so that the loads and stores of inlined hooks can be
// joined to 16 bytes; the plan chooses it by the sizes of the elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../detail/limit.cuh"
#include "../detail/overlap.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_map_threads = 256;
constexpr unsigned k_at_once = 8;  ///< elements of a slice that a thread loads before it stores

/// Calls map(i) for each i < n. A block takes a tile of k_map_threads * Consecutive indices.
/// @param zero  what wait_for_last_launch returned
/// @param map_aligned  the same for arrays that are all aligned to 16, if `is_aligned`
/// @param map  reads by parameters of the kernel whose address nothing else looks at: only then the
///   compiler knows that no store changes what they point to, and loads several elements of a slice
///   before it stores the first one
template <unsigned Consecutive, typename MapAligned, typename Map>
__device__ __forceinline__ void map_tile(std::size_t n, unsigned zero, bool is_aligned,
                                         MapAligned map_aligned, Map map)
{
  constexpr unsigned k_tile = k_map_threads * Consecutive;
  auto const tile =
      std::size_t{blockIdx.x + zero} * k_tile;  // a multiple, so that loads are joined
  auto const first = tile + threadIdx.x;
  if (tile + k_tile > n) {
#pragma unroll 1
    for (auto i = first; i < n; i += k_map_threads) map(i);
  } else if (is_aligned) {
#pragma unroll
    for (unsigned k = 0; k < Consecutive; ++k) map_aligned(tile + threadIdx.x * Consecutive + k);
  } else {
#pragma unroll(k_at_once < Consecutive ? k_at_once : Consecutive)
    for (unsigned k = 0; k < Consecutive; ++k) map(first + k * k_map_threads);
  }
}

/// The address, which is a multiple of 16; the compiler relies on it from here on.
__device__ __forceinline__ void* aligned(void* address)
{
  return __builtin_assume_aligned(address, 16);
}
__device__ __forceinline__ void const* aligned(void const* address)
{
  return __builtin_assume_aligned(address, 16);
}

/// Lets the next launch start, and waits for the one before, which may have written all that this
/// one reads: 0, as wait_for_last_launch returns it.
__device__ __forceinline__ unsigned begin_map()
{
  start_next_launch();
  return wait_for_last_launch();
}

/// Whether all addresses are multiples of 16.
template <typename... Addresses>
__device__ __forceinline__ bool are_aligned(Addresses const*... addresses)
{
  return ((reinterpret_cast<std::uintptr_t>(addresses) | ...) & 15U) == 0;
}

}  // namespace fatlink_algorithms

/// Defines a kernel for each number of consecutive indices.
#define FATLINK_MAP_KERNELS(kernel) kernel(1) kernel(2) kernel(4) kernel(8) kernel(16)
