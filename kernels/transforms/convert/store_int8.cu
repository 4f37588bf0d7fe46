// SPDX-License-Identifier: Apache-2.0
// Writes the nearest int8 (ties to even), limited to -128 and 127, after a multiplication by the
// state's scale: quantizes. A product that is NaN becomes 0.
#include <cstdint>
#include <fatlink/element.cuh>

#include "state.cuh"

FATLINK_ELEMENT(store_element, std::int8_t);

extern "C" __device__ void store_element(void* out, std::size_t index, float value,
                                         void const* state)
{
  // In integers, which takes no branch, so that stores can be joined: a NaN becomes 0.
  auto const rounded = __float2int_rn(scale_of(state) * value);
  static_cast<std::int8_t*>(out)[index] = static_cast<std::int8_t>(max(-128, min(rounded, 127)));
}
