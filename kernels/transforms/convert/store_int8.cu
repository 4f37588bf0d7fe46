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
  auto const scaled = scale_of(state) * value;
  auto const limited = fminf(fmaxf(scaled, -128.0F), 127.0F);
  static_cast<std::int8_t*>(out)[index] =
      static_cast<std::int8_t>(isnan(scaled) ? 0 : __float2int_rn(limited));
}
