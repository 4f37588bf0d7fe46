// SPDX-License-Identifier: Apache-2.0
// Writes float, multiplied by the state's scale.
#include <fatlink/element.cuh>

#include "state.cuh"

FATLINK_ELEMENT(store_element, float);

extern "C" __device__ void store_element(void* out, std::size_t index, float value,
                                         void const* state)
{
  static_cast<float*>(out)[index] = scale_of(state) * value;
}
