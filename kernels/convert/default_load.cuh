// SPDX-License-Identifier: Apache-2.0
// The default of load_element: the array holds float. Inline, which nvcc makes weak, so a
// transform replaces it; not inlined, so that there is a call to replace.
#pragma once

#include "convert.cuh"

extern "C" inline __device__ __noinline__ float load_element(void const* in, std::size_t index,
                                                             void const* /*state*/)
{
  return static_cast<float const*>(in)[index];
}
