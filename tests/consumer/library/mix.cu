// SPDX-License-Identifier: 0BSD
// The library: out[i] = shape_sample(mix_samples(left[i], right[i], factors), state) for i < count.
extern "C" __global__ void mix(float const* left, float const* right, float* out, unsigned count,
                               gains factors, void const* state)
{
  auto const stride = gridDim.x * blockDim.x;
  for (auto i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    out[i] = shape_sample(mix_samples(left[i], right[i], factors), state);
}
