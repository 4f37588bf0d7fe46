// SPDX-License-Identifier: Apache-2.0
// Reads float, multiplied by the state's scale.
#include <fatlink/element.cuh>

#include "state.cuh"

FATLINK_ELEMENT(load_element, float);

extern "C" __device__ float load_element(void const* in, std::size_t index, void const* state)
{
  return scale_of(state) * static_cast<float const*>(in)[index];
}
