// SPDX-License-Identifier: Apache-2.0
// The kernels of segmented_reduce. Segment i is the elements offsets[i] to offsets[i + 1] - 1.
//
// Elements and ends of segments are one sequence: each end after the elements of its segment. It is
// cut into chunks of the same length, one for each warp, so the work of a warp depends neither on
// how long segments are nor on how many are empty. A chunk may begin and end within a segment:
//
//   tail   what the chunk has of a segment that began in an earlier one and ends in this one
//   open   what it has of the segment that continues in the next chunk
//
// A second kernel combines open, open, …, tail of each segment that several chunks share.
#pragma once

#include <cstdint>

#include "../detail/search.cuh"
#include "segments.cuh"

namespace fatlink_algorithms {

/// Elements that one lane folds: of four cache lines (wide elements of up to eight), which lanes
/// beside it do not read. A warp for each such segment would wait for the memory most of the time.
template <typename Element>
constexpr unsigned k_short_segment = sizeof(Element) < 16 ? 512 / sizeof(Element) : 32;
constexpr unsigned k_few_chunks = 32;  // that one warp combines
constexpr std::uint64_t k_has_tail = std::uint64_t{1} << 62;
constexpr std::uint64_t k_opens = std::uint64_t{1} << 63;

/// What chunks leave for the second kernel, an element for each chunk.
template <typename Element>
struct chunk_results {
  Element* tail;
  Element* open;
  /// The number of segments that end up to the end of the chunk, k_has_tail if the tail has
  /// elements, and k_opens if a segment begins in the chunk and continues in the next one.
  std::uint64_t* record;
};

template <typename Element, typename Combine>
struct segments {
  array_source<Element> source;
  std::uint64_t const* offsets;
  Element* out;
  Element init;
  Combine combine;

  __device__ __forceinline__ void store(std::size_t segment, Element const& total) const
  {
    out[segment] = combine(init, total);
  }
};

/// A place in the sequence: before it are the ends of `segment` segments and the elements up to
/// `element`.
struct sequence_place {
  std::size_t segment;
  std::size_t element;
};

/// The place after `position` elements and ends.
__device__ __forceinline__ sequence_place find_place(std::uint64_t const* offsets,
                                                     std::size_t count, std::size_t position)
{
  auto const start = offsets[0];
  auto const segment = warp_partition_point(
      count, [=](std::size_t i) { return offsets[i + 1] - start + i < position; });
  return {segment, start + position - segment};
}

/// Folds segments that begin and end in a chunk, those from `segment` up to `last`.
template <typename Shape, typename Element, typename Combine>
__device__ __forceinline__ void fold_segments(segments<Element, Combine> const& x,
                                              std::size_t segment, std::size_t last)
{
  auto const lane = lane_index();
  while (segment < last) {
    auto const mine = min(segment + lane, last - 1);
    auto const first = x.offsets[mine];
    auto const end = x.offsets[mine + 1];
    auto const is_long = end - first > k_short_segment<Element>;
    auto const long_lanes = __ballot_sync(k_all_lanes, is_long);
    auto const short_count =
        long_lanes == 0 ? k_warp : static_cast<unsigned>(__ffs(long_lanes)) - 1;
    if (lane < short_count && segment + lane < last) {
      if (first == end)
        x.out[mine] = x.init;
      else
        x.store(mine, fold_by_lane<Shape::pack>(x.source, first, end, x.combine));
    }
    segment += short_count;
    // Segments of many elements one after the other, until a lane has a short one.
    for (auto k = short_count; k < k_warp && segment < last; ++k, ++segment) {
      if ((long_lanes >> k & 1) == 0) break;
      auto const begin = __shfl_sync(k_all_lanes, first, k);
      auto const stop = __shfl_sync(k_all_lanes, end, k);
      auto const total = fold_segment<Shape>(x.source, begin, stop, x.combine);
      if (lane == 0) x.store(segment, total);
    }
  }
}

/// Folds chunk `chunk` of `length` elements and ends. All lanes of a warp call it.
template <typename Shape, typename Element, typename Combine>
__device__ __forceinline__ void reduce_segments(segments<Element, Combine> const& x,
                                                std::size_t count, std::size_t chunk,
                                                std::size_t length,
                                                chunk_results<Element> const& results)
{
  auto const total = x.offsets[count] - x.offsets[0] + count;
  if (chunk * length >= total) return;
  auto const begin = find_place(x.offsets, count, chunk * length);
  auto const end = find_place(x.offsets, count, min(total, (chunk + 1) * length));
  auto const is_first = lane_index() == 0;

  auto record = static_cast<std::uint64_t>(end.segment);
  auto segment = begin.segment;
  auto const continues = segment < count && begin.element > x.offsets[segment];
  if (continues && segment < end.segment) {
    auto const last = x.offsets[segment + 1];
    if (begin.element < last) {
      auto const tail = fold_segment<Shape>(x.source, begin.element, last, x.combine);
      if (is_first) results.tail[chunk] = tail;
      record |= k_has_tail;
    }
    ++segment;
  }
  fold_segments<Shape>(x, segment, end.segment);
  if (end.segment < count) {
    auto const start = x.offsets[end.segment];
    if (start < end.element) {
      auto const open =
          fold_segment<Shape>(x.source, max(start, begin.element), end.element, x.combine);
      if (is_first) results.open[chunk] = open;
      if (start >= begin.element) record |= k_opens;
    }
  }
  if (is_first) results.record[chunk] = record;
}

/// The number of segments that end up to the end of the chunk.
__device__ __forceinline__ std::uint64_t ended_segments(std::uint64_t record)
{
  return record & (k_has_tail - 1);
}

/// The chunk in which the segment ends that `chunk` opens. All lanes of a warp call it.
__device__ __forceinline__ std::size_t find_closing_chunk(std::uint64_t const* record,
                                                          std::size_t chunk, std::size_t chunks)
{
  auto const segment = ended_segments(record[chunk]);
  return chunk + 1 + warp_partition_point(chunks - chunk - 1, [=](std::size_t k) {
           return ended_segments(record[chunk + 1 + k]) <= segment;
         });
}

}  // namespace fatlink_algorithms
