// SPDX-License-Identifier: Apache-2.0
// Prefixes of tiles in one pass over an array (decoupled look-back). 32 consecutive tiles are a
// group. A tile waits for the sums of the tiles before it in its group, which do not wait for
// anything, and for the prefix of its group: the prefix of one of the 31 groups before, combined
// with the sums of the groups after that one. So a tile reads 992 tiles at once.
//
// The association does not depend on timing: sums of tiles are combined by scan_lanes, and sums of
// groups from left to right, wherever the chain begins.
//
// Tiles are numbered by a ticket, so the tiles that a block waits for belong to blocks that run.
// "sum" is the combination of elements, "prefix" that of all elements before the tile or group.
#pragma once

#include <cstddef>

#include "lanes.cuh"
#include "limit.cuh"
#include "overlap.cuh"
#include "slot.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_group = k_lanes;  // tiles of a group

/// Slots for `tiles` tiles: one for each tile, and two for each group and one more.
__host__ __device__ constexpr std::size_t slot_count(std::size_t tiles)
{
  return tiles + 2 * ((tiles + k_group - 1) / k_group + 1);
}

/// What two warps of a block find before its tile.
template <typename Value>
struct tile_prefix {
  Value before_in_group;
  Value before_group;
};

template <typename Value, typename Combine>
class look_back {
 public:
  __device__ look_back(slot<Value>* slots, unsigned tiles, unsigned tile, Combine combine)
      : tile_sums_(slots),
        group_sums_(slots + tiles),
        group_prefixes_(group_sums_ + (tiles + k_group - 1) / k_group + 1),
        group_(tile / k_group),
        place_(tile % k_group),
        combine_(combine)
  {
  }

  __device__ bool is_first_of_group() const { return place_ == 0; }
  __device__ bool is_last_of_group() const { return place_ == k_group - 1; }
  __device__ bool is_in_first_group() const { return group_ == 0; }

  /// Publishes the tile's sum, where another one can need it; by one lane.
  __device__ __forceinline__ void publish_tile(Value const& sum)
  {
    if (!is_last_of_group() && gridDim.x > 1) tile_sums_[group_ * k_group + place_].publish(sum);
  }

  /// The sum of the tiles before this one in its group, for a whole warp; `sum` of the tile itself
  /// is the result for the first one.
  __device__ __forceinline__ Value sum_before_in_group(Value const& sum) const
  {
    auto value = sum;
    auto is_there = lane_index() >= place_;
    auto const* const sums = tile_sums_ + group_ * k_group;
    while (true) {
      if (!is_there) is_there = sums[lane_index()].read(value);
      if (__all_sync(k_all_lanes, is_there)) break;
    }
    return from_lane(scan_lanes(value, combine_), place_ == 0 ? 0 : place_ - 1);
  }

  /// The sum of a group, by one lane of the last tile of a group that is not the first.
  __device__ __forceinline__ void publish_group(Value const& sum)
  {
    group_sums_[group_].publish(sum);
  }

  /// The prefix of the next group, by one lane of the last tile of a group.
  __device__ __forceinline__ void publish_prefix_of_next_group(Value const& prefix)
  {
    group_prefixes_[group_ + 1].publish(prefix);
  }

  /// The prefix of the tile's group, which is not the first, for a whole warp. Each lane reads one
  /// group, lane 0 the tile's own.
  __device__ __forceinline__ Value prefix_of_group() const
  {
    auto const lane = lane_index();
    Value prefix = {};
    Value sum = {};
    auto has_prefix = false;
    auto has_sum = false;
    unsigned distance = 0;
    while (true) {
      if (lane < group_) {  // the prefix of group 0 is not published
        if (!has_prefix) has_prefix = group_prefixes_[group_ - lane].read(prefix);
        if (lane > 0 && !has_sum) has_sum = group_sums_[group_ - lane].read(sum);
      }
      auto const prefixes = __ballot_sync(k_all_lanes, has_prefix);
      auto const gaps = __ballot_sync(k_all_lanes, lane > 0 && !has_sum);
      distance = __ffs(static_cast<int>(prefixes)) - 1;
      if (prefixes != 0 && (gaps & ((2U << distance) - 1)) == 0) break;
    }
    return fold(from_lane(prefix, distance), sum, distance);
  }

  /// Finds the prefix of a tile whose sum is `sum`: warp 0 looks back within the group, warp 1 at
  /// the groups before. Value{} must be neutral. `found` is in shared memory.
  __device__ __forceinline__ void find_prefix(Value const& sum, tile_prefix<Value>& found)
  {
    if (warp_index() == 0) find_before_in_group(sum, found);
    if (warp_index() == 1) {
      Value before = {};
      if (!is_in_first_group()) before = prefix_of_group();
      if (lane_index() == 0) found.before_group = before;
    }
  }

 private:
  __device__ __forceinline__ void find_before_in_group(Value const& sum, tile_prefix<Value>& found)
  {
    Value before = {};
    if (!is_first_of_group()) before = sum_before_in_group(sum);
    if (lane_index() != 0) return;
    found.before_in_group = before;
    if (!is_last_of_group()) return;
    before = combine_(before, sum);
    if (is_in_first_group())
      publish_prefix_of_next_group(before);
    else
      publish_group(before);
  }

  /// combine(…combine(combine(prefix, sum of lane `distance`), sum of lane `distance` - 1)…, sum of
  /// lane 1).
  __device__ __forceinline__ Value fold(Value prefix, Value const& sum, unsigned distance) const
  {
    auto next = from_lane(sum, distance);
    for (; distance > 0; --distance) {
      auto const current = next;
      next = from_lane(sum, distance - 1);  // before the operator, which need not wait for it
      prefix = combine_(prefix, current);
    }
    return prefix;
  }

  slot<Value>* tile_sums_;
  slot<Value>* group_sums_;      // of group 0 unused
  slot<Value>* group_prefixes_;  // of group 0 unused
  unsigned group_;
  unsigned place_;
  Combine combine_;
};

/// The number of the block's tile, for all its threads; `shared` is in shared memory. Tiles are
/// numbered in the order in which their blocks start, so that a block waits for blocks that run
/// only. Waits for the launch before, which cleared the ticket and the slots; a single tile needs
/// neither. Does not let the next launch start: on an H100, select_4 took 1.3 us longer then.
__device__ __forceinline__ unsigned take_tile(unsigned* ticket, unsigned& shared)
{
  wait_for_last_launch();
  if (threadIdx.x == 0) shared = gridDim.x == 1 ? 0 : atomicAdd(ticket, 1U);
  __syncthreads();
  return shared;
}

/// Sets the slots and the ticket to zero, before a scan.
template <typename Value>
__device__ __forceinline__ void clear_slots(slot<Value>* slots, std::size_t count, unsigned* ticket)
{
  auto* const words = reinterpret_cast<unsigned long long*>(slots);
  auto const size = count * sizeof(slot<Value>) / sizeof(unsigned long long);
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (auto k = thread; k < size; k += std::size_t{gridDim.x} * blockDim.x) words[k] = 0;
  if (thread == 0) *ticket = 0;
}

/// The launch before a selection: clears the slots and the ticket, and sets each of `counts` to
/// zero, its result for an empty array.
template <typename Value, typename... Counts>
__device__ __forceinline__ void clear_selection(slot<Value>* slots, std::size_t count,
                                                unsigned* ticket, Counts*... counts)
{
  start_next_launch();
  wait_for_last_launch();
  clear_slots(slots, count, ticket);
  if (blockIdx.x == 0 && threadIdx.x == 0) ((*counts = 0), ...);
}

}  // namespace fatlink_algorithms
