// SPDX-License-Identifier: Apache-2.0
// The library map3: map_element(out, in1, in2, in3, i, state) for each i < n, or < *limit.
#include "../map3.cuh"
#include "map.cuh"

namespace {

using namespace fatlink_algorithms;

// Restricted, so that loads of later elements can precede stores of earlier ones.
template <unsigned Consecutive>
__device__ __forceinline__ void map_elements(
    void* __restrict__ out, void const* __restrict__ in1, void const* __restrict__ in2,
    void const* __restrict__ in3, std::size_t n, unsigned long long const* limit,
    void const* __restrict__ state, void const* __restrict__ slice1,
    void const* __restrict__ slice2, void const* __restrict__ slice3)
{
  auto const zero = begin_map();
  map_tile<Consecutive>(
      limited(n, limit), zero, are_aligned(out, in1, in2, in3),
      [=](std::size_t i) {
        map_element(aligned(out), aligned(in1), aligned(in2), aligned(in3), i, state);
      },
      [=](std::size_t i) { map_element(out, slice1, slice2, slice3, i, state); });
}

}  // namespace

// The inputs once more as slices: see map_tile.
#define FATLINK_MAP_KERNEL(consecutive)                                                     \
  extern "C" __global__ void __launch_bounds__(k_map_threads) map3_by_##consecutive(        \
      void* __restrict__ out, void const* __restrict__ in1, void const* __restrict__ in2,   \
      void const* __restrict__ in3, std::size_t n, unsigned long long const* limit,         \
      void const* __restrict__ state, void const* __restrict__ slice1,                      \
      void const* __restrict__ slice2, void const* __restrict__ slice3)                     \
  {                                                                                         \
    map_elements<consecutive>(out, in1, in2, in3, n, limit, state, slice1, slice2, slice3); \
  }

FATLINK_MAP_KERNELS(FATLINK_MAP_KERNEL)
