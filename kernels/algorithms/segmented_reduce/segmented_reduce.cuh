// SPDX-License-Identifier: Apache-2.0
// The chunks of segmented_reduce. Segment i is the elements offsets[i] to offsets[i + 1] - 1.
//
// Elements and ends of segments are one sequence: each end after the elements of its segment. It is
// cut into chunks of the same length, one for each warp, so the work of a warp depends neither on
// how long segments are nor on how many are empty. A chunk may begin and end within a segment:
//
//   tail   what the chunk has of a segment that began in an earlier one and ends in this one
//   open   what it has of the segment that continues in the next chunk
//
// A second kernel combines open, open, …, tail of each segment that several chunks share.
//
// A warp copies its chunk to shared memory tile by tile, so it reads whole lines however long the
// segments are. Then each lane folds one segment at a time. Where a segment is too long for a lane,
// the tile is scanned first: each lane has a run of consecutive elements, and replaces each one by
// the fold of its segment's elements in the run up to it; a segmented scan over the lanes gives
// what precedes each run. The fold of a segment is then its last element, combined with what
// precedes the run of that element.
#pragma once

#include <cstdint>
#include <cstring>

#include "../detail/search.cuh"
#include "../detail/sources.cuh"

namespace fatlink_algorithms {

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

/// A tile in the shared memory of a warp: 32 runs of four packs. A pack is 16 bytes, or one element
/// of 32. Packs are permuted within 128 bytes, so that there are no bank conflicts, neither when
/// lanes store consecutive packs nor when each reads a pack of its run.
template <typename Element>
struct segment_tile {
  static constexpr unsigned packs = 4;  // of a run
  static constexpr unsigned pack = sizeof(Element) < 16 ? 16 / sizeof(Element) : 1;
  static constexpr unsigned line = 128 / sizeof(Element);
  static constexpr unsigned run = packs * pack;
  static constexpr unsigned size = k_warp * run;
  static constexpr unsigned step = run < 16 ? run : 16;  // that a scan expands, and a lane folds
  using pack_items = Element[pack];

  alignas(16) Element items[size];
  alignas(16) unsigned char heads[size];  ///< 1 for the first element of a segment

  __device__ __forceinline__ Element& at(unsigned element)
  {
    return items[element ^ (element / line % packs * pack)];
  }

  /// Each lane clears its run again when it has read it.
  __device__ __forceinline__ void clear_heads()
  {
    for (auto k = lane_index(); k < size / sizeof(uint4); k += k_warp)
      reinterpret_cast<uint4*>(heads)[k] = {};
  }

  __device__ __forceinline__ void read_pack(unsigned element, pack_items& read)
  {
    vectors words;
    auto const* const from = reinterpret_cast<uint4 const*>(&at(element));
#pragma unroll
    for (unsigned k = 0; k < k_vectors; ++k) words.of[k] = from[k];
    memcpy(read, &words, sizeof words);
  }
  __device__ __forceinline__ void write_pack(unsigned element, pack_items const& written)
  {
    vectors words;
    memcpy(&words, written, sizeof words);
    auto* const to = reinterpret_cast<uint4*>(&at(element));
#pragma unroll
    for (unsigned k = 0; k < k_vectors; ++k) to[k] = words.of[k];
  }

 private:
  static constexpr unsigned k_vectors = pack * sizeof(Element) / sizeof(uint4);
  struct vectors {
    uint4 of[k_vectors];
  };
};

/// A place in the sequence: before it are the ends of `segment` segments and the elements up to
/// `element`.
struct sequence_place {
  std::size_t segment;
  std::size_t element;
};

/// Where a chunk begins and ends.
struct chunk_places {
  sequence_place begin;
  sequence_place end;
  std::size_t limit;  ///< the last offset
};

/// Finds chunk `index` of `length` members of the sequence; empty if that has fewer. One access is
/// enough if the segments have about the same length and cover `n` elements.
__device__ __forceinline__ chunk_places find_chunk(std::uint64_t const* offsets, std::size_t n,
                                                   std::size_t count, std::size_t index,
                                                   std::size_t length)
{
  auto const start = offsets[0];
  auto const limit = offsets[count];
  auto const total = limit - start + count;
  auto const ends = static_cast<double>(count) / static_cast<double>(n + count);
  std::size_t positions[2];
  std::size_t found[2];
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    auto const position = (index + k) * length;
    positions[k] = min(total, position);
    found[k] = min(count, static_cast<std::size_t>(static_cast<double>(position) * ends));
  }
  warp_partition_points(count, found, [&](unsigned k, std::size_t i) {
    return offsets[i + 1] - start + i < positions[k];
  });
  return {{found[0], start + positions[0] - found[0]},
          {found[1], start + positions[1] - found[1]},
          limit};
}

/// A chunk. Its segments are counted from its first one, and elements from the beginning of the
/// line that its first one is in.
template <typename Element>
struct segment_chunk {
  Element const* in;
  std::uint64_t const* ends;  ///< offsets
  Element* out;
  unsigned base;      ///< the low bits of the index of element 0
  unsigned elements;  ///< with those of the line before the first one
  unsigned segments;  ///< that end in it
  bool continues;     ///< begins within a segment

  /// The end of a segment: the end of the chunk for the one that is open there, and the largest
  /// number for later ones.
  __device__ __forceinline__ unsigned end_of(unsigned segment) const
  {
    if (segment < segments) return static_cast<unsigned>(ends[segment]) - base;
    return segment == segments ? elements : ~0U;
  }
};

/// Copies the tile at element `begin` of an array that is aligned to 16 bytes. Behind its last
/// pack, number `last`, that one repeats.
template <typename Element>
__device__ __forceinline__ void copy_packs(segment_tile<Element>& tile, Element const* in,
                                           unsigned begin, unsigned last)
{
  using shape = segment_tile<Element>;
  auto const first = begin / shape::pack + lane_index();
  typename shape::pack_items items[shape::packs];
#pragma unroll
  for (unsigned k = 0; k < shape::packs; ++k)
    load_vectors<written::before>(in + std::size_t{min(first + k * k_warp, last)} * shape::pack,
                                  items[k]);
#pragma unroll
  for (unsigned k = 0; k < shape::packs; ++k)
    tile.write_pack((k * k_warp + lane_index()) * shape::pack, items[k]);
}

/// Copies the tile at element `begin` of an array of any alignment. Behind element `last` that one
/// repeats.
template <typename Element>
__device__ __forceinline__ void copy_elements(segment_tile<Element>& tile, Element const* in,
                                              unsigned begin, unsigned last)
{
#pragma unroll 4
  for (auto k = lane_index(); k < segment_tile<Element>::size; k += k_warp)
    tile.at(k) = in[std::size_t{min(begin + k, last)}];
}

/// The first segment that does not end before a tile, and where it begins, or the chunk if later.
struct next_segment {
  unsigned segment;
  unsigned start;
};

/// Marks the first elements of segments in the tile at `begin`, from `next` on. `end` is that of
/// segment next.segment + lane.
template <typename Element>
__device__ __forceinline__ void mark_heads(segment_tile<Element>& tile,
                                           segment_chunk<Element> const& chunk, next_segment next,
                                           unsigned begin, unsigned end)
{
  constexpr unsigned k_size = segment_tile<Element>::size;
  if (lane_index() == 0 && next.start >= begin) tile.heads[next.start - begin] = 1;
  auto segment = next.segment + lane_index();
#pragma unroll 1
  while (true) {
    if (end - begin < k_size) tile.heads[end - begin] = 1;
    if (__any_sync(k_all_lanes, end - begin > k_size)) break;
    segment += k_warp;
    end = chunk.end_of(segment);
  }
}

/// Scans the lane's run, and returns its last value. `has_head`: a segment begins in it. `any` is
/// any element.
template <typename Element, typename Combine>
__device__ __forceinline__ Element scan_run(segment_tile<Element>& tile, Element const& any,
                                            bool& has_head, Combine combine)
{
  using shape = segment_tile<Element>;
  constexpr unsigned k_packs = shape::step / shape::pack;
  struct words {
    unsigned of[shape::step / 4];
  };
  auto total = any;
  has_head = false;
#pragma unroll 1
  for (unsigned done = 0; done < shape::run; done += shape::step) {
    auto const first = lane_index() * shape::run + done;
    typename shape::pack_items items[k_packs];
#pragma unroll
    for (unsigned p = 0; p < k_packs; ++p) tile.read_pack(first + p * shape::pack, items[p]);
    auto* const marks =
        static_cast<words*>(__builtin_assume_aligned(tile.heads + first, shape::step));
    auto const heads = *marks;
    *marks = {};
#pragma unroll
    for (unsigned k = 0; k < shape::step; ++k) {
      auto& item = items[k / shape::pack][k % shape::pack];
      auto const is_head = (heads.of[k / 4] >> k % 4 * 8 & 0xFF) != 0;
      auto const is_first = k == 0 && done == 0;
      if (k > 0 || shape::run > shape::step)
        item = select(is_head || is_first, item, combine(total, item));
      total = item;
      has_head = has_head || is_head;
    }
#pragma unroll
    for (unsigned p = 0; p < k_packs; ++p) tile.write_pack(first + p * shape::pack, items[p]);
  }
  return total;
}

/// Replaces the elements of the tile by the folds of their segments within their runs. Lane k gets
/// what precedes its run of the segment that continues there. `carry` is what precedes the tile, or
/// any element if it begins with a segment, and then what precedes the next tile.
template <typename Element, typename Combine>
__device__ __forceinline__ Element scan_tile(segment_tile<Element>& tile, Element& carry,
                                             Combine combine)
{
  auto has_head = false;
  auto total = scan_run(tile, carry, has_head, combine);
  auto const lane = lane_index();
  auto const heads = __ballot_sync(k_all_lanes, has_head) & ((2U << lane) - 1);
  // Lanes since the last one in which a segment begins, or since lane 0.
  auto const distance = lane - 31 + __clz(static_cast<int>(heads | 1));
#pragma unroll 1
  for (unsigned delta = 1; __any_sync(k_all_lanes, distance >= delta); delta *= 2)
    total = select(distance >= delta, combine(shuffle_up(total, delta), total), total);
  total = select(heads == 0, combine(carry, total), total);
  auto const before = select(lane == 0, carry, shuffle_up(total, 1));
  carry = shuffle_from(total, k_warp - 1);
  return before;
}

/// Folds elements `first` to `last` - 1 of a tile that is not scanned: one at least.
template <typename Element, typename Combine>
__device__ __forceinline__ Element fold_by_lane(segment_tile<Element>& tile, unsigned first,
                                                unsigned last, Combine combine)
{
  auto total = tile.at(first);
#pragma unroll 1
  for (auto k = first + 1; k < last; ++k) total = combine(total, tile.at(k));
  return total;
}

/// Folds what a chunk has in the tile at `begin`, and advances `next`, the `end` of segment
/// next.segment + lane, and `carry`, the fold of the segment that the tile continues.
template <typename Element, typename Combine>
__device__ __forceinline__ void reduce_tile(segment_tile<Element>& tile,
                                            segment_chunk<Element> const& chunk, Element* tail,
                                            Element* open, unsigned begin, next_segment& next,
                                            unsigned& end, Element& carry, Element const& init,
                                            Combine combine)
{
  using shape = segment_tile<Element>;
  auto const lane = lane_index();
  auto const size = min(shape::size, chunk.elements - begin);
  auto is_scanned = false;
  auto before = carry;
  auto total = init;
  unsigned passed;
  do {
    auto const segment = next.segment + lane;
    auto const end_before = __shfl_up_sync(k_all_lanes, end, 1);
    auto const start = lane == 0 ? next.start : end_before;
    auto const ends_here = end - begin <= size;
    // What the tile has of the segment.
    auto const first = max(start, begin) - begin;
    auto const last = min(end - begin, size);
    auto const has_elements = first < last;
    auto const is_long = has_elements && last - first > shape::step;
    if (!is_scanned && __any_sync(k_all_lanes, is_long)) {
      mark_heads(tile, chunk, next, begin, end);
      __syncwarp();
      before = scan_tile(tile, carry, combine);
      __syncwarp();
      is_scanned = true;
    }
    passed = static_cast<unsigned>(__popc(__ballot_sync(k_all_lanes, ends_here)));
    if (passed > 0) next.start = __shfl_sync(k_all_lanes, end, static_cast<int>(passed - 1));
    next.segment += passed;
    end = chunk.end_of(next.segment + lane);

    auto const run = (last - 1) / shape::run;
    auto const preceding = is_scanned ? shuffle_from(before, run % k_warp) : carry;
    total = init;
    if (has_elements) {
      total = is_scanned ? tile.at(last - 1) : fold_by_lane(tile, first, last, combine);
      if (start < begin || (is_scanned && first < run * shape::run))
        total = combine(preceding, total);
    }
    if (ends_here) {
      auto const is_empty = start == begin + last;  // in the chunk
      auto const is_open = segment == chunk.segments;
      if (!is_open && !(chunk.continues && segment == 0))
        chunk.out[segment] = is_empty ? init : combine(init, total);
      else if (!is_empty)
        *(is_open ? open : tail) = total;
    }
  } while (passed == k_warp && next.segment <= chunk.segments);
  if (!is_scanned) carry = shuffle_from(total, passed % k_warp);
}

/// Folds chunk `index` of `length` elements and ends of `count` segments, which cover at most `n`
/// elements. All lanes of a warp call it.
template <typename Element, typename Combine>
__device__ __forceinline__ void reduce_chunk(segments<Element, Combine> const& x, std::size_t n,
                                             std::size_t count, std::size_t index,
                                             std::size_t length,
                                             chunk_results<Element> const& results,
                                             segment_tile<Element>& tile)
{
  using shape = segment_tile<Element>;
  tile.clear_heads();
  auto const places = find_chunk(x.offsets, n, count, index, length);
  auto const [segment, element] = places.begin;
  auto const base = element / shape::line * shape::line;
  segment_chunk<Element> const chunk{x.source.in + base,
                                     x.offsets + segment + 1,
                                     x.out + segment,
                                     static_cast<unsigned>(base),
                                     static_cast<unsigned>(places.end.element - base),
                                     static_cast<unsigned>(places.end.segment - segment),
                                     segment < count && x.offsets[segment] < element};
  next_segment next{0, static_cast<unsigned>(element - base)};
  auto end = chunk.end_of(lane_index());
  if (lane_index() == 0) {
    auto record = static_cast<std::uint64_t>(places.end.segment);
    auto const is_one = chunk.continues && chunk.segments == 0;
    if (chunk.continues && !is_one && end > next.start) record |= k_has_tail;
    if (!is_one && places.end.segment < count && x.offsets[places.end.segment] < places.end.element)
      record |= k_opens;
    results.record[index] = record;
  }

  auto const has_elements = element < places.end.element;
  auto const last = chunk.elements - 1;
  auto const has_packs =
      x.source.aligned && base + (last / shape::pack + 1) * shape::pack <= places.limit;
  auto carry = x.init;
  unsigned begin = 0;
  do {
    __syncwarp();
    if (has_elements && has_packs) copy_packs(tile, chunk.in, begin, last / shape::pack);
    if (has_elements && !has_packs) copy_elements(tile, chunk.in, begin, last);
    __syncwarp();
    reduce_tile(tile, chunk, results.tail + index, results.open + index, begin, next, end, carry,
                x.init, x.combine);
    begin += shape::size;
  } while (begin < chunk.elements);
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
