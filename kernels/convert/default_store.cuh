// SPDX-License-Identifier: Apache-2.0
// The default of store_element: the array holds float. Inline, which nvcc makes weak, so a
// transform replaces it; not inlined, so that there is a call to replace.
#pragma once

#include <fatlink/element.cuh>

#include "convert.cuh"

FATLINK_ELEMENT(store_element, float);

extern "C" inline __device__ __noinline__ void store_element(void* out, std::size_t index,
                                                             float value, void const* state)
{
  // nvcc does not pass an argument that a weak definition in the same file leaves unused, and the
  // transform that replaces this one would read garbage (measured: nvcc 13.0, -ptx).
  asm volatile("" ::"l"(state));
  static_cast<float*>(out)[index] = value;
}
