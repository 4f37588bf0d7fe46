// SPDX-License-Identifier: Apache-2.0
// Writes float, limited to the state's scale in both directions: gradient clipping. NaN stays NaN.
#include <fatlink/element.cuh>

FATLINK_ELEMENT(store_element, float);

extern "C" __device__ void store_element(void* out, std::size_t index, float value,
                                         void const* state)
{
  auto const limit = state == nullptr ? 1.0F : *static_cast<float const*>(state);
  // fminf and fmaxf return the number of a number and NaN.
  auto const is_number = !isnan(value) && !isnan(limit);
  static_cast<float*>(out)[index] = is_number ? fmaxf(-limit, fminf(limit, value)) : value + limit;
}
