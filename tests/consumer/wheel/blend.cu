// SPDX-License-Identifier: 0BSD
// The library: out[i] = blend_values(a[i], b[i]) for i < count.
extern "C" __global__ void blend(float const* a, float const* b, float* out,
                                 unsigned long long count)
{
  auto const stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (auto i = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x; i < count;
       i += stride)
    out[i] = blend_values(a[i], b[i]);
}
