// SPDX-License-Identifier: Apache-2.0
// The library map2: map_element(out, in1, in2, i, state) for each i < n.
#include "../map2.cuh"
#include "map.cuh"

using namespace fatlink_algorithms;

namespace {

constexpr unsigned k_threads = 256;
constexpr unsigned k_groups = 2;
constexpr unsigned k_consecutive = 4;

}  // namespace

// Restricted, so that loads of later elements can precede stores of earlier ones.
extern "C" __global__ void __launch_bounds__(k_threads)
    map2(void* __restrict__ out, void const* __restrict__ in1, void const* __restrict__ in2,
         std::size_t n, void const* __restrict__ state)
{
  if (are_aligned(out, in1, in2)) {
    auto* out_ = __builtin_assume_aligned(out, 16);
    auto const* in1_ = __builtin_assume_aligned(in1, 16);
    auto const* in2_ = __builtin_assume_aligned(in2, 16);
    map_tile<k_consecutive, k_groups, k_threads>(
        n, [=](std::size_t i) { map_element(out_, in1_, in2_, i, state); });
  } else {
    map_tile<1, k_groups * k_consecutive, k_threads>(
        n, [=](std::size_t i) { map_element(out, in1, in2, i, state); });
  }
}
