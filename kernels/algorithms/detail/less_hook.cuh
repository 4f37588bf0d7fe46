// SPDX-License-Identifier: Apache-2.0
// The hook `less` as a function object.
#pragma once

namespace fatlink_algorithms {

struct less_hook {
  template <typename Element>
  __device__ __forceinline__ bool operator()(Element const& a, Element const& b) const
  {
    return less(a, b);
  }
};

}  // namespace fatlink_algorithms
