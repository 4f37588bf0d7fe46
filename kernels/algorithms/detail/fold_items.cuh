// SPDX-License-Identifier: Apache-2.0
// Folds the elements that a thread holds.
#pragma once

namespace fatlink_algorithms {

/// Folds the first `count` elements (all of them, if it is larger) in order: one at least. Pairs
/// are combined first, then pairs of pairs, so calls that do not depend on each other overlap.
template <unsigned Size, typename Element, typename Combine>
__device__ __forceinline__ Element fold_items(Element const (&items)[Size], unsigned count,
                                              Combine combine)
{
  Element totals[Size];
#pragma unroll
  for (unsigned k = 0; k < Size; ++k) totals[k] = items[k];
#pragma unroll
  for (unsigned stride = 1; stride < Size; stride *= 2) {
    if (stride >= count) break;
#pragma unroll
    for (unsigned k = 0; k + stride < Size; k += 2 * stride)
      if (k + stride < count) totals[k] = combine(totals[k], totals[k + stride]);
  }
  return totals[0];
}

}  // namespace fatlink_algorithms
