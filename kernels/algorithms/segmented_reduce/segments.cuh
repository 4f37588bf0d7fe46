// SPDX-License-Identifier: Apache-2.0
// Folds the elements of segments with a warp: a long segment by all lanes, or short ones by a lane
// each.
#pragma once

#include "../detail/sources.cuh"
#include "../detail/warp_fold.cuh"

namespace fatlink_algorithms {

/// Folds the elements from `first` to `last`: one at least. Unlike of warp_fold, `first` is any
/// element. Lane 0 gets the result.
template <typename Shape, typename Element, written When, typename Combine>
__device__ __forceinline__ Element fold_segment(array_source<Element, When> const& source,
                                                std::size_t first, std::size_t last,
                                                Combine combine)
{
  auto const pack = (first + Shape::pack - 1) / Shape::pack;
  auto const aligned = min(pack * Shape::pack, last);
  auto const count = static_cast<unsigned>(aligned - first);  // before the first pack
  Element head[Shape::pack];
  source.load_elements(first, count, head);
  if (aligned == last) return fold_items(head, count, combine);
  auto const total = warp_fold<Shape>(source, pack, last, combine);
  return count == 0 ? total : combine(fold_items(head, count, combine), total);
}

}  // namespace fatlink_algorithms
