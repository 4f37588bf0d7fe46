// SPDX-License-Identifier: Apache-2.0
// A library whose plan uses every kind of argument: two launches, scratch memory, a struct by
// value, a state, a size of 32 bits.
#include "weighted_sum.cuh"

#include <cstddef>

// partial[t] merges weigh(in[i]) for each i = t, t + threads, … that is a multiple of
// bounds.stride, where in[i] >= bounds.low. Starts with `init`.
extern "C" __global__ void weigh_tiles(float const* in, float* partial, std::size_t n, range bounds,
                                       void const* state, float init)
{
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const threads = std::size_t{gridDim.x} * blockDim.x;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  auto sum = init;
  for (auto i = thread; i < n; i += threads)
    if (i % bounds.stride == 0 && in[i] >= bounds.low) sum = merge(sum, weigh(in[i], state));
  partial[thread] = sum;
}

extern "C" __global__ void merge_tiles(float const* partial, float* out, unsigned count, float init)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");  // the launch overlaps that of weigh_tiles
#endif
  auto sum = init;
  for (unsigned i = 0; i < count; ++i) sum = merge(sum, partial[i]);
  *out = sum;
}
