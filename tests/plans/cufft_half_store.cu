// SPDX-License-Identifier: Apache-2.0
// Callback of cuFFT: writes x · scale of the caller's info as float16.
#include <cuda_fp16.h>

#include <fatlink/element.cuh>

FATLINK_ELEMENT(cufftJITCallbackStoreReal, __half);

__device__ void cufftJITCallbackStoreReal(void* out, unsigned long long index, float value,
                                          void* info, void*)
{
  auto const scale = *static_cast<float const*>(info);
  static_cast<__half*>(out)[index] = __float2half_rn(scale * value);
}
