// SPDX-License-Identifier: Apache-2.0
// The default of load_element: the array holds float. Inline, which nvcc makes weak, so a
// transform replaces it; not inlined, so that there is a call to replace.
#pragma once

#include <fatlink/element.cuh>

#include "convert.cuh"

FATLINK_ELEMENT(load_element, float);

extern "C" inline __device__ __noinline__ float load_element(void const* in, std::size_t index,
                                                             void const* state)
{
  // nvcc does not pass an argument that a weak definition in the same file leaves unused, and the
  // transform that replaces this one would read garbage (measured: nvcc 13.0, -ptx).
  asm volatile("" ::"l"(state));
  return static_cast<float const*>(in)[index];
}
