// SPDX-License-Identifier: Apache-2.0
// Where two sorted arrays a and b are cut so that their first `diagonal` merged elements are a
// number of a's first and of b's first elements (merge path). Elements of a come before equal ones
// of b. The number of a's elements is at least max(0, diagonal - size of b) and at most
// min(diagonal, size of a), and the first place in between whose element of a comes after the
// element of b that would be left out.
#pragma once

#include "../detail/lanes.cuh"

namespace fatlink_algorithms {

/// Elements of `a` among the first `diagonal` merged ones.
template <typename Index, typename Key, typename Less>
__device__ __forceinline__ Index merge_path(Key const* a, Index a_size, Key const* b, Index b_size,
                                            Index diagonal, Less less)
{
  Index low = diagonal > b_size ? diagonal - b_size : 0;
  Index high = diagonal < a_size ? diagonal : a_size;
  while (low < high) {
    auto const middle = low + (high - low) / 2;
    if (less(b[diagonal - 1 - middle], a[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// The same by a whole warp, which compares 32 places at a time.
template <typename Key, typename Less>
__device__ __forceinline__ std::size_t merge_path_by_warp(Key const* a, std::size_t a_size,
                                                          Key const* b, std::size_t b_size,
                                                          std::size_t diagonal, Less less)
{
  auto low = diagonal > b_size ? diagonal - b_size : 0;
  auto high = diagonal < a_size ? diagonal : a_size;
  while (low < high) {
    auto const step = (high - low + k_lanes - 1) / k_lanes;
    auto const place = low + lane_index() * step;
    auto const comes_after = place >= high || less(b[diagonal - 1 - place], a[place]);
    auto const places = __ballot_sync(k_all_lanes, comes_after);
    auto const first =
        places == 0 ? k_lanes : static_cast<unsigned>(__ffs(static_cast<int>(places))) - 1;
    if (low + first * step < high) high = low + first * step;
    if (first > 0) low += (first - 1) * step + 1;
  }
  return low;
}

}  // namespace fatlink_algorithms
