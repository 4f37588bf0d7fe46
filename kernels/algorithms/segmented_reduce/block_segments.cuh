// SPDX-License-Identifier: Apache-2.0
// Parts of segmented_reduce that a block does together: long segments, and those of many chunks.
#pragma once

#include "../detail/block_fold.cuh"
#include "segmented_reduce.cuh"

namespace fatlink_algorithms {

/// Ranges that the warps of a block leave for the whole block: at most `Capacity`.
template <unsigned Capacity>
struct block_ranges {
  struct range {
    std::size_t key;
    std::size_t first;
    std::size_t last;
  };
  range ranges[Capacity];
  unsigned count;

  __device__ __forceinline__ void clear()
  {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
  }

  __device__ __forceinline__ void add(std::size_t key, std::size_t first, std::size_t last)
  {
    ranges[atomicAdd(&count, 1)] = {key, first, last};
  }
};

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
  auto const total = block_fold<Shape, MostThreads>(source, pack, share, last, combine);
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

/// Combines what chunks first to last - 1 have open, and the tail of chunk `last`.
template <typename Element, typename Combine>
__device__ __forceinline__ void close_segment(segments<Element, Combine> const& x,
                                              chunk_results<Element> const& results,
                                              std::size_t first, std::size_t last,
                                              Element const& total)
{
  auto const closed =
      (results.record[last] & k_has_tail) != 0 ? x.combine(total, results.tail[last]) : total;
  x.store(ended_segments(results.record[first]), closed);
}

/// The segments that the block's 32 chunks open. Each segment that is in few chunks is combined by
/// a warp, others by the block.
template <typename Shape, unsigned Threads, typename Element, typename Combine>
__device__ __forceinline__ void close_segments(segments<Element, Combine> const& x,
                                               std::size_t chunks,
                                               chunk_results<Element> const& results)
{
  __shared__ block_ranges<k_warp> left;
  left.clear();
  auto const is_first = lane_index() == 0;
  auto const begin = std::size_t{blockIdx.x} * k_warp;
  for (auto k = threadIdx.x / k_warp; k < k_warp && begin + k < chunks; k += Threads / k_warp) {
    auto const chunk = begin + k;
    if ((results.record[chunk] & k_opens) == 0) continue;
    auto const last = find_closing_chunk(results.record, chunk, chunks);
    if (last - chunk > k_few_chunks) {
      if (is_first) left.add(chunk, chunk, last);
      continue;
    }
    open_source<Element> const open{results.open};
    auto const total = fold_segment<Shape>(open, chunk, last, x.combine);
    if (is_first) close_segment(x, results, chunk, last, total);
  }
  __syncthreads();
  for (unsigned k = 0; k < left.count; ++k) {
    auto const range = left.ranges[k];
    open_source<Element> const open{results.open};
    auto const total = fold_by_block<Shape, Threads>(open, range.first, range.last, x.combine);
    if (threadIdx.x == 0) close_segment(x, results, range.first, range.last, total);
    __syncthreads();
  }
}

}  // namespace fatlink_algorithms
