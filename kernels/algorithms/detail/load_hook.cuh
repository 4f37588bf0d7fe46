// SPDX-License-Identifier: Apache-2.0
// What the hook `load` computes, as a source of elements. Include the contract's header first.
#pragma once

#include "sources.cuh"

namespace fatlink_algorithms {

struct load_hook {
  __device__ __forceinline__ fatlink_element operator()(void const* in, std::size_t index,
                                                        void const* state) const
  {
    return load(in, index, state);
  }
};

using load_source = hook_source<fatlink_element, load_hook>;

__device__ __forceinline__ load_source load_from(void const* in, void const* state)
{
  return {in, state, {}, reinterpret_cast<std::size_t>(in) % sizeof(uint4) == 0};
}

}  // namespace fatlink_algorithms
