// SPDX-License-Identifier: Apache-2.0
// The default of store_element: the array holds float. Inline, which nvcc makes weak, so a
// transform replaces it; not inlined, so that there is a call to replace.
#pragma once

#include "convert.cuh"

extern "C" inline __device__ __noinline__ void store_element(void* out, std::size_t index,
                                                             float value, void const* /*state*/)
{
  static_cast<float*>(out)[index] = value;
}
