// SPDX-License-Identifier: Apache-2.0
// The hooks as function objects, which the templates of the kernels take.
#pragma once

#include <cstddef>

namespace fatlink_algorithms {

struct combine_hook {
  template <typename Element>
  __device__ __forceinline__ Element operator()(Element a, Element b) const
  {
    return combine(a, b);
  }
};

}  // namespace fatlink_algorithms
