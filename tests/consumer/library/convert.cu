// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void convert(float const* in, float* out, unsigned long long count)
{
  auto const stride = 1ULL * gridDim.x * blockDim.x;
  for (auto i = 1ULL * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    store_element(out, i, load_element(in, i));
}
