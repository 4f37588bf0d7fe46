// SPDX-License-Identifier: Apache-2.0
// The library map2: map_element(out, in1, in2, i, state) for each i < n, or < *limit.
#include "../map2.cuh"
#include "map.cuh"

namespace {

using namespace fatlink_algorithms;

// Restricted, so that loads of later elements can precede stores of earlier ones.
template <unsigned Consecutive>
__device__ __forceinline__ void map_elements(void* __restrict__ out, void const* __restrict__ in1,
                                             void const* __restrict__ in2, std::size_t n,
                                             unsigned long long const* limit,
                                             void const* __restrict__ state,
                                             void const* __restrict__ slice1,
                                             void const* __restrict__ slice2)
{
  auto const zero = begin_map();
  map_tile<Consecutive>(
      limited(n, limit), zero, are_aligned(out, in1, in2),
      [=](std::size_t i) { map_element(aligned(out), aligned(in1), aligned(in2), i, state); },
      [=](std::size_t i) { map_element(out, slice1, slice2, i, state); });
}

}  // namespace

// The inputs once more as slices: see map_tile.
#define FATLINK_MAP_KERNEL(consecutive)                                                   \
  extern "C" __global__ void __launch_bounds__(k_map_threads) map2_by_##consecutive(      \
      void* __restrict__ out, void const* __restrict__ in1, void const* __restrict__ in2, \
      std::size_t n, unsigned long long const* limit, void const* __restrict__ state,     \
      void const* __restrict__ slice1, void const* __restrict__ slice2)                   \
  {                                                                                       \
    map_elements<consecutive>(out, in1, in2, n, limit, state, slice1, slice2);            \
  }

FATLINK_MAP_KERNELS(FATLINK_MAP_KERNEL)
