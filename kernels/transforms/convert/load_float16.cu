// SPDX-License-Identifier: Apache-2.0
// Reads float16, multiplied by the state's scale.
#include <cuda_fp16.h>
#include <fatlink/element.cuh>

#include "state.cuh"

FATLINK_ELEMENT(load_element, __half);

extern "C" __device__ float load_element(void const* in, std::size_t index, void const* state)
{
  return scale_of(state) * __half2float(static_cast<__half const*>(in)[index]);
}
