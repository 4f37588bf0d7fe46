// SPDX-License-Identifier: Apache-2.0
// The library: *out = combine over init and in[0] to in[n - 1], in two launches of 512 threads a
// block.
#include <cstddef>

namespace {

constexpr unsigned k_threads = 512;

/// Combines the values of the first `count` threads of the block; `count` is 1 or more.
__device__ float combine_block(float value, std::size_t count)
{
  __shared__ float values[k_threads];
  values[threadIdx.x] = value;
  for (auto width = k_threads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width && threadIdx.x + width < count)
      values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + width]);
  }
  return values[0];
}

}  // namespace

/// partial[b]: what block b combines of in[0] to in[n - 1]. At most ceil(n / 512) blocks.
extern "C" __global__ void reduce_tiles(float const* in, float* partial, std::size_t n)
{
  auto const first = std::size_t{blockIdx.x} * k_threads;
  auto const i = first + threadIdx.x;
  auto value = i < n ? in[i] : 0.0F;
  for (auto k = i + gridDim.x * k_threads; k < n; k += gridDim.x * k_threads)
    value = combine(value, in[k]);
  value = combine_block(value, n - first);
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

/// *out: init and partial[0] to partial[count - 1], combined by one block.
extern "C" __global__ void reduce_partial(float const* partial, float* out, unsigned count,
                                          float init)
{
  auto value = threadIdx.x < count ? partial[threadIdx.x] : 0.0F;
  for (auto k = threadIdx.x + k_threads; k < count; k += k_threads)
    value = combine(value, partial[k]);
  if (count > 0) value = combine_block(value, count);
  if (threadIdx.x == 0) *out = count > 0 ? combine(init, value) : init;
}
