// SPDX-License-Identifier: Apache-2.0
// What tiles of runs tell each other: how many runs begin in them, and the fold of the last run so
// far.
#pragma once

#include <cstring>

#include <fatlink/opaque_element.cuh>

#include "../detail/slot.cuh"

namespace fatlink_algorithms {

/// Of consecutive elements: the number of heads, and the fold of the elements from the last head
/// on; without heads, of all elements.
template <typename Element>
struct run_fold {
  unsigned long long runs;  // below 2^63
  Element value;
};

/// The run_fold of two neighbors.
template <typename Element, typename Combine>
struct combine_runs {
  Combine combine;

  __device__ __forceinline__ run_fold<Element> operator()(run_fold<Element> const& a,
                                                          run_fold<Element> const& b) const
  {
    return {a.runs + b.runs, b.runs > 0 ? b.value : combine(a.value, b.value)};
  }
};

/// Values of up to 8 bytes travel with the number of runs in one access of 128 bits.
template <typename Element>
class run_slot {
 public:
  __device__ __forceinline__ void publish(run_fold<Element> const& fold)
  {
    unsigned long long bits = 0;
    memcpy(&bits, &fold.value, sizeof(Element));
    asm volatile(
        "{ .reg .b128 quad; mov.b128 quad, {%1, %2}; st.relaxed.gpu.global.b128 [%0], quad; }" ::
            "l"(__cvta_generic_to_global(words_)),
        "l"(bits), "l"(fold.runs << 1U | 1U)
        : "memory");
  }
  __device__ __forceinline__ bool read(run_fold<Element>& fold) const
  {
    unsigned long long bits;
    unsigned long long runs;
    asm volatile(
        "{ .reg .b128 quad; ld.relaxed.gpu.global.b128 quad, [%2]; mov.b128 {%0, %1}, quad; }"
        : "=l"(bits), "=l"(runs)
        : "l"(__cvta_generic_to_global(words_))
        : "memory");
    memcpy(&fold.value, &bits, sizeof(Element));
    fold.runs = runs >> 1U;
    return runs != 0;
  }

 private:
  alignas(16) unsigned long long words_[2];
};

template <typename Element>
class slot<run_fold<Element>, 16> : public run_slot<Element> {
};

}  // namespace fatlink_algorithms
