// SPDX-License-Identifier: Apache-2.0
// Reads int8, multiplied by the state's scale: dequantizes.
#include <cstdint>
#include <fatlink/element.cuh>

#include "state.cuh"

FATLINK_ELEMENT(load_element, std::int8_t);

extern "C" __device__ float load_element(void const* in, std::size_t index, void const* state)
{
  return scale_of(state) * static_cast<float>(static_cast<std::int8_t const*>(in)[index]);
}
