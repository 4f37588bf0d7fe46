// SPDX-License-Identifier: Apache-2.0
// Writes the nearest float16, after a multiplication by the state's scale.
#include <cuda_fp16.h>
#include <fatlink/element.cuh>

#include "state.cuh"

FATLINK_ELEMENT(store_element, __half);

extern "C" __device__ void store_element(void* out, std::size_t index, float value,
                                         void const* state)
{
  static_cast<__half*>(out)[index] = __float2half_rn(scale_of(state) * value);
}
