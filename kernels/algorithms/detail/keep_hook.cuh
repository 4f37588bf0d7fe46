// SPDX-License-Identifier: Apache-2.0
// The hook `keep` with its state as a function object.
#pragma once

namespace fatlink_algorithms {

struct keep_hook {
  static constexpr bool k_takes_previous = false;
  void const* state;

  template <typename Element>
  __device__ __forceinline__ bool operator()(Element const& x) const
  {
    return keep(x, state);
  }
};

}  // namespace fatlink_algorithms
