// SPDX-License-Identifier: Apache-2.0
// Callback of cuFFT: reads x · scale of the caller's info.

__device__ float2 cufftJITCallbackLoadComplex(void* in, unsigned long long index, void* info, void*)
{
  auto const x = static_cast<float2 const*>(in)[index];
  auto const scale = *static_cast<float const*>(info);
  return {scale * x.x, scale * x.y};
}
