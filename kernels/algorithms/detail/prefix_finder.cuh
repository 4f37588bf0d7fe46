// SPDX-License-Identifier: Apache-2.0
// What comes before a tile, for all threads of its block: publishes the tile's sum and looks back
// (look_back.cuh).
#pragma once

#include "look_back.cuh"

namespace fatlink_algorithms {

/// All threads of a block, which has at least two warps, call publish(), look_back(),
/// __syncthreads() and find() in this order.
template <typename Value, typename Combine>
class prefix_finder {
 public:
  struct storage {
    Value before_in_group;
    Value before_group;
  };

  /// `sum` is that of tile `tile`.
  __device__ prefix_finder(storage& shared, slot<Value>* slots, unsigned tile, Value const& sum,
                           Combine combine)
      : shared_(shared), back_(slots, gridDim.x, tile, combine), sum_(sum), combine_(combine)
  {
  }

  __device__ __forceinline__ void publish()
  {
    if (threadIdx.x == 0) back_.publish_tile(sum_);
  }

  /// Warp 0 looks back within the group, warp 1 at the groups before.
  __device__ __forceinline__ void look_back()
  {
    if (warp_index() == 0 && !back_.is_first_of_group()) look_back_in_group();
    if (warp_index() == 1 && !back_.is_in_first_group()) {
      auto const before = back_.prefix_of_group();
      if (lane_index() == 0) shared_.before_group = before;
    }
  }

  /// Returns whether tiles precede the tile, and sets `prefix` to their sum.
  __device__ __forceinline__ bool find(Value& prefix)
  {
    auto const has_groups = !back_.is_in_first_group();
    if (has_groups) {
      prefix = shared_.before_group;
      if (threadIdx.x == 0 && back_.is_last_of_group())
        back_.publish_prefix_of_next_group(combine_(prefix, sum_));
    }
    if (back_.is_first_of_group()) return has_groups;
    prefix = has_groups ? combine_(prefix, shared_.before_in_group) : shared_.before_in_group;
    return true;
  }

 private:
  /// In thread 0 of the last tile of a group, sum_ is then that of the group.
  __device__ __forceinline__ void look_back_in_group()
  {
    auto const before = back_.sum_before_in_group(sum_);
    if (lane_index() != 0) return;
    shared_.before_in_group = before;
    if (!back_.is_last_of_group()) return;
    sum_ = combine_(before, sum_);
    if (back_.is_in_first_group())
      back_.publish_prefix_of_next_group(sum_);
    else
      back_.publish_group(sum_);
  }

  storage& shared_;
  fatlink_algorithms::look_back<Value, Combine> back_;
  Value sum_;
  Combine combine_;
};

}  // namespace fatlink_algorithms
