// SPDX-License-Identifier: Apache-2.0
// How a segmented sort divides an array into tiles, and which parts of a segment each merge pass
// merges.
//
// Tile t begins at element t * stride. If a segment contains this element and the one before it,
// but at most `slack` elements from there on, the tile begins at the end of that segment instead.
// So a tile has up to stride + slack elements, and segments of up to `slack` elements lie in one
// tile. Other segments that contain elements of several tiles are called split.
//
// The parts that a split segment has in its tiles are sorted runs. Pass p merges pairs of runs of
// 2^p parts, counted from the first tile of the segment, so the number of passes that do something
// follows from the length of the longest segment. A pass reads one of the arrays `out` and `other`
// and writes the other one, for each segment such that its last pass writes `out`. If the number of
// parts is not a power of two, the last run has nothing to be merged with in some passes. It is
// copied where its next merge would otherwise find it in the wrong array.
#pragma once

#include <cstddef>

#include "../detail/lanes.cuh"

namespace fatlink_algorithms {

/// What contains the first element of tile t, if t * stride moves no boundary.
struct tile_span {
  std::size_t begin;  // of the segment; begin = end = t * stride if it is in no segment
  std::size_t end;
  std::size_t offsets;  // that are at most t * stride; for the end of the array: less than n
};

template <unsigned Stride, unsigned Slack>
struct segment_tiling {
  static constexpr unsigned stride = Stride;
  static constexpr unsigned slack = Slack;
  static constexpr unsigned size = Stride + Slack;  // of the largest tile

  /// Whether the segment continues from tile - 1 in `tile`.
  __device__ __forceinline__ static bool is_split(tile_span const& span, std::size_t tile)
  {
    return span.begin < tile * Stride && span.end > tile * Stride + Slack;
  }

  __device__ __forceinline__ static std::size_t first_element(tile_span const& span,
                                                              std::size_t tile)
  {
    auto const place = tile * Stride;
    return span.begin < place && span.end <= place + Slack ? span.end : place;
  }
};

/// A split segment, seen from one of its tiles.
template <typename Tiling>
struct split_segment {
  std::size_t begin;
  std::size_t end;
  std::size_t first_tile;
  std::size_t last;  // number of the last part: one at least. Part k is in tile first_tile + k
  std::size_t part;  // of the tile

  __device__ __forceinline__ split_segment(tile_span const& span, std::size_t tile)
      : begin(span.begin),
        end(span.end),
        first_tile(begin / Tiling::stride),
        last((end - 1 - Tiling::slack) / Tiling::stride - first_tile),
        part(tile - first_tile)
  {
  }

  /// Where a part begins.
  __device__ __forceinline__ std::size_t place(std::size_t index) const
  {
    if (index == 0) return begin;
    return index > last ? end : (first_tile + index) * Tiling::stride;
  }

  /// The pass that merges the segment's last two runs.
  __device__ __forceinline__ unsigned last_pass() const
  {
    return 63 - static_cast<unsigned>(__clzll(static_cast<long long>(last)));
  }
  __device__ __forceinline__ bool is_written_to_other(unsigned pass) const
  {
    return (last_pass() - pass) % 2 != 0;
  }

  /// Whether pass 0 and those after it that do not merge this part find it in `other`.
  __device__ __forceinline__ bool begins_in_other() const
  {
    auto const first_merge = part == last ? trailing_zeros(last) : 0;
    return !is_written_to_other(first_merge);
  }

  /// Whether the last run of this pass, which has no partner, must be copied: if it was merged in
  /// the pass before, and an odd number of passes does not merge it.
  __device__ __forceinline__ bool is_last_run_copied(unsigned pass) const
  {
    return pass > 0 && (last >> (pass - 1)) % 2 != 0 && trailing_zeros(last >> pass) % 2 != 0;
  }

 private:
  __device__ __forceinline__ static unsigned trailing_zeros(std::size_t number)
  {
    return static_cast<unsigned>(__ffsll(static_cast<long long>(number))) - 1;
  }
};

/// The number of offsets that are at most `place`, found by a warp.
__device__ __forceinline__ std::size_t count_offsets(std::size_t const* offsets, std::size_t count,
                                                     std::size_t place)
{
  std::size_t low = 0;
  auto high = count;
  while (low < high) {
    auto const step = (high - low + k_lanes - 1) / k_lanes;
    auto const probe = low + (lane_index() + 1) * step - 1;
    auto const is_before = probe < high && offsets[probe] <= place;
    auto const passed =
        static_cast<unsigned>(__popc(static_cast<int>(__ballot_sync(k_all_lanes, is_before))));
    auto const end = low + (passed + 1) * step - 1;
    if (end < high) high = end;
    low += passed * step;
  }
  return low;
}

/// Finds the spans of the first elements of all tiles, and of the end of the array: a warp for
/// each.
template <typename Tiling>
__device__ __forceinline__ void find_spans(std::size_t const* offsets, tile_span* spans,
                                           std::size_t n, std::size_t segments)
{
  auto const tile = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / k_lanes;
  auto const tiles = (n + Tiling::stride - 1) / Tiling::stride;
  if (tile > tiles) return;
  auto const is_end = tile == tiles;
  auto const place = is_end ? n : tile * Tiling::stride;
  auto const count =
      is_end && n == 0 ? 0 : count_offsets(offsets, segments + 1, is_end ? n - 1 : place);
  if (lane_index() > 0) return;
  auto const is_inside = !is_end && count > 0 && count <= segments;
  spans[tile] = {is_inside ? offsets[count - 1] : place, is_inside ? offsets[count] : place, count};
}

}  // namespace fatlink_algorithms
