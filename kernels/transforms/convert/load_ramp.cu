// SPDX-License-Identifier: Apache-2.0
// Reads float and adds the state's scale times the index, which a window function or a phase ramp
// before a transform does.
#include <fatlink/element.cuh>

FATLINK_ELEMENT(load_element, float);

extern "C" __device__ float load_element(void const* in, std::size_t index, void const* state)
{
  // The low 16 bits of the index, which float holds exactly.
  auto const position = static_cast<float>(static_cast<unsigned>(index) & 0xffffU);
  auto const scale = state == nullptr ? 1.0F : *static_cast<float const*>(state);
  return fmaf(scale, position, static_cast<float const*>(in)[index]);
}
