// SPDX-License-Identifier: Apache-2.0
// The kernels of segmented_reduce but that of chunks: segments by warps or blocks, and what chunks
// leave.
#pragma once

#include "../detail/block_fold.cuh"
#include "segmented_reduce.cuh"

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

/// Folds the elements from `first` to `last` with a block: one at least. Thread 0 gets the result.
/// The number of warps is a power of two.
template <typename Shape, unsigned MostThreads, typename Element, written When, typename Combine>
__device__ __forceinline__ Element fold_by_block(array_source<Element, When> const& source,
                                                 std::size_t first, std::size_t last,
                                                 Combine combine)
{
  auto const pack = (first + Shape::pack - 1) / Shape::pack;
  auto const aligned = min(pack * Shape::pack, last);
  auto const count = static_cast<unsigned>(aligned - first);  // before the first pack
  Element head[Shape::pack];
  source.load_elements(first, count, head);
  if (aligned == last) return fold_items(head, count, combine);
  auto const share = share_of_warp((last - aligned + Shape::pack - 1) / Shape::pack);
  auto const total = block_fold<Shape, MostThreads>(source, pack, share, {last, nullptr}, combine);
  return count == 0 ? total : combine(fold_items(head, count, combine), total);
}

/// Segment blockIdx.x * warps + w by warp w of the block, or by the block if it has more than
/// `LongSegment` elements.
template <typename Shape, unsigned Threads, unsigned LongSegment, typename Element,
          typename Combine>
__device__ __forceinline__ void reduce_segments_by_warps(segments<Element, Combine> const& x,
                                                         std::size_t count)
{
  constexpr unsigned k_warps = Threads / k_warp;
  auto const warp = threadIdx.x / k_warp;
  auto const segment = std::size_t{blockIdx.x} * k_warps + warp;
  auto const is_first = lane_index() == 0;
  auto is_long = false;
  if (segment < count) {
    auto const first = x.offsets[segment];
    auto const last = x.offsets[segment + 1];
    is_long = last - first > LongSegment;
    if (first == last) {
      if (is_first) x.out[segment] = x.init;
    } else if (!is_long) {
      auto const total = fold_segment<Shape>(x.source, first, last, x.combine);
      if (is_first) x.store(segment, total);
    }
  }
  if (!__syncthreads_or(is_long)) return;
  for (unsigned w = 0; w < k_warps; ++w) {
    if (!__syncthreads_or(is_long && warp == w)) continue;
    auto const long_segment = segment - warp + w;
    auto const total = fold_by_block<Shape, Threads>(x.source, x.offsets[long_segment],
                                                     x.offsets[long_segment + 1], x.combine);
    if (threadIdx.x == 0) x.store(long_segment, total);
  }
}

/// Segment blockIdx.x by the block.
template <typename Shape, unsigned MostThreads, typename Element, typename Combine>
__device__ __forceinline__ void reduce_segment_by_block(segments<Element, Combine> const& x)
{
  auto const first = x.offsets[blockIdx.x];
  auto const last = x.offsets[blockIdx.x + 1];
  if (first == last) {
    if (threadIdx.x == 0) x.out[blockIdx.x] = x.init;
    return;
  }
  auto const total = fold_by_block<Shape, MostThreads>(x.source, first, last, x.combine);
  if (threadIdx.x == 0) x.store(blockIdx.x, total);
}

/// What the launch before has written.
template <typename Element>
using open_source = array_source<Element, written::during>;

constexpr unsigned k_walked_chunks = 8;  // that one lane combines

/// Closes the segment that chunk `first` opens, if it ends in one of the k_walked_chunks after it.
/// Returns false if it does not.
template <typename Element, typename Combine>
__device__ __forceinline__ bool close_by_lane(segments<Element, Combine> const& x,
                                              std::size_t chunks,
                                              chunk_results<Element> const& results,
                                              std::size_t first)
{
  auto const record = results.record[first];
  auto const far = results.record[min(first + k_walked_chunks, chunks - 1)];
  auto next = results.record[min(first + 1, chunks - 1)];
  if ((record & k_opens) == 0) return true;
  auto const segment = ended_segments(record);
  if (ended_segments(far) <= segment) return false;
  auto total = results.open[first];
  auto chunk = first + 1;
  for (; ended_segments(next) <= segment; next = results.record[++chunk])
    total = x.combine(total, results.open[chunk]);
  if ((next & k_has_tail) != 0) total = x.combine(total, results.tail[chunk]);
  x.store(segment, total);
  return true;
}

/// Closes the segment that chunk `first` opens, by the block.
template <typename Shape, unsigned Threads, typename Element, typename Combine>
__device__ __forceinline__ void close_by_block(segments<Element, Combine> const& x,
                                               std::size_t chunks,
                                               chunk_results<Element> const& results,
                                               std::size_t first)
{
  auto const last = find_closing_chunk(results.record, first, chunks);
  open_source<Element> const open{results.open};
  auto total = fold_by_block<Shape, Threads>(open, first, last, x.combine);
  if (threadIdx.x > 0) return;
  if ((results.record[last] & k_has_tail) != 0) total = x.combine(total, results.tail[last]);
  x.store(ended_segments(results.record[first]), total);
}

/// Closes the segments that the block's 32 chunks open: each by a lane, or by the block if it
/// continues in many chunks.
template <typename Shape, unsigned Threads, typename Element, typename Combine>
__device__ __forceinline__ void close_segments(segments<Element, Combine> const& x,
                                               std::size_t chunks,
                                               chunk_results<Element> const& results)
{
  __shared__ unsigned left;  // lanes whose segments the block closes
  auto const begin = std::size_t{blockIdx.x} * k_warp;
  if (threadIdx.x < k_warp) {
    auto const chunk = begin + threadIdx.x;
    auto const is_closed = chunk >= chunks || close_by_lane(x, chunks, results, chunk);
    auto const open_lanes = __ballot_sync(k_all_lanes, !is_closed);
    if (threadIdx.x == 0) left = open_lanes;
  }
  __syncthreads();
  for (auto lanes = left; lanes != 0; lanes &= lanes - 1) {
    close_by_block<Shape, Threads>(x, chunks, results, begin + __ffs(static_cast<int>(lanes)) - 1);
    __syncthreads();
  }
}

}  // namespace fatlink_algorithms
