// SPDX-License-Identifier: Apache-2.0
// The library map1: map_element(out, in, i, state) for each i < n, or < *limit.
#include "../map1.cuh"
#include "map.cuh"

namespace {

using namespace fatlink_algorithms;

// Restricted, so that loads of later elements can precede stores of earlier ones.
template <unsigned Consecutive>
__device__ __forceinline__ void map_elements(void* __restrict__ out, void const* __restrict__ in,
                                             std::size_t n, unsigned long long const* limit,
                                             void const* __restrict__ state,
                                             void const* __restrict__ slice)
{
  auto const zero = begin_map();
  map_tile<Consecutive>(
      limited(n, limit), zero, are_aligned(out, in),
      [=](std::size_t i) { map_element(aligned(out), aligned(in), i, state); },
      [=](std::size_t i) { map_element(out, slice, i, state); });
}

}  // namespace

// The inputs once more as slice: see map_tile.
#define FATLINK_MAP_KERNEL(consecutive)                                                         \
  extern "C" __global__ void __launch_bounds__(k_map_threads)                                   \
      map1_by_##consecutive(void* __restrict__ out, void const* __restrict__ in, std::size_t n, \
                            unsigned long long const* limit, void const* __restrict__ state,    \
                            void const* __restrict__ slice)                                     \
  {                                                                                             \
    map_elements<consecutive>(out, in, n, limit, state, slice);                                 \
  }

FATLINK_MAP_KERNELS(FATLINK_MAP_KERNEL)
