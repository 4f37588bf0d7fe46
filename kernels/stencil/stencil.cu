// SPDX-License-Identifier: Apache-2.0
// The library: out[i] = stencil_point(the points around in[i]) for i < n. A block stages its points
// and the neighbors of the first and the last of them in shared memory. in and out do not overlap.
#include "stencil.cuh"

#include <cstddef>

namespace {

constexpr unsigned k_radius = 4;  // neighbors on each side, as the contract says

/// Element `i` of the line, or its nearest end.
__device__ float clamped(float const* in, long long i, long long n)
{
  return in[min(max(i, 0LL), n - 1)];
}

/// Copies the points of a tile that begins at `start` and their neighbors to shared memory.
__device__ void stage(float* tile, float const* in, std::size_t start, std::size_t n)
{
  auto const first = static_cast<long long>(start) - k_radius;
  for (unsigned k = threadIdx.x; k < blockDim.x + 2 * k_radius; k += blockDim.x)
    tile[k] = clamped(in, first + k, static_cast<long long>(n));
}

}  // namespace

// Dynamic shared memory: blockDim.x + 2 * 4 floats.
extern "C" __global__ void stencil(float const* __restrict__ in, float* __restrict__ out,
                                   std::size_t n, void const* __restrict__ state)
{
  extern __shared__ float tile[];
  auto const step = std::size_t{gridDim.x} * blockDim.x;
  for (auto start = std::size_t{blockIdx.x} * blockDim.x; start < n; start += step) {
    stage(tile, in, start, n);
    __syncthreads();
    auto const i = start + threadIdx.x;
    if (i < n) out[i] = stencil_point(tile + k_radius + threadIdx.x, state);
    __syncthreads();
  }
}
