// SPDX-License-Identifier: Apache-2.0
// A scan in one pass: each block keeps a tile in registers while it waits for the sums of the tiles
// before it (look_back.cuh).
#pragma once

#include "../detail/look_back.cuh"
#include "../detail/rows.cuh"

namespace fatlink_algorithms {

template <unsigned MostThreads, unsigned Rows, bool Exclusive>
struct scan_settings {
  static constexpr unsigned most_threads = MostThreads;  // of a block, which has at least 64
  static constexpr unsigned rows = Rows;                 // vectors of a thread
  static constexpr bool is_exclusive = Exclusive;
};

/// @tparam Source  a pointer, or a hook_source
template <typename Element, typename Combine, typename Settings, typename Source>
class tile_scanner {
  static constexpr unsigned k_rows = Settings::rows;
  static constexpr unsigned k_most_warps = Settings::most_threads / k_lanes;
  static constexpr unsigned k_width = k_vector<Element>;
  static_assert(k_most_warps >= 4 && k_most_warps <= k_lanes,
                "two warps of half a block look back");

 public:
  struct storage {
    alignas(16) Element staged[k_is_aligned<Element> ? 1 : Settings::most_threads * k_width];
    Element warp_sums[k_most_warps];
    Element sum_before_in_group;
    Element prefix_of_group;
    unsigned tile;
  };

  __device__ tile_scanner(storage& shared, Source in, Element* out, std::size_t n,
                          Element const& init, slot<Element>* slots, unsigned* ticket,
                          Combine combine)
      : shared_(shared),
        in_(in),
        out_(out),
        n_(n),
        init_(init),
        slots_(slots),
        ticket_(ticket),
        tile_size_(tile_elements<Element, k_rows>(blockDim.x)),
        tiles_(gridDim.x),
        combine_(combine)
  {
  }

  /// Scans the tile of the block.
  __device__ __forceinline__ void scan()
  {
    auto const tile = take_tile(ticket_, shared_.tile);
    rows<Element, k_rows> items;
    load(items, tile);
    scan_warp(items);
    __syncthreads();
    auto const warp_prefix = combine_warps();
    if (threadIdx.x == 0) back_from(tile).publish_tile(sum_);
    look_back_from(tile);
    __syncthreads();
    finish(items, tile, warp_prefix);
  }

 private:
  using back = look_back<Element, Combine>;

  __device__ back back_from(unsigned tile) const { return {slots_, tiles_, tile, combine_}; }

  __device__ __forceinline__ void load(rows<Element, k_rows>& items, unsigned tile) const
  {
    auto const begin = std::size_t{tile} * tile_size_;
    load_tile(items, in_ + begin, n_ - begin, tile_size_);
  }

  /// Scans each vector of the lane, and sets what comes before it in its warp (`before_`, which the
  /// first vector of lane 0 lacks) and the sum of the warp.
  __device__ __forceinline__ void scan_warp(rows<Element, k_rows>& items)
  {
    Element sums[k_rows];
#pragma unroll
    for (unsigned row = 0; row < k_rows; ++row) {
      auto& vector = items.vectors[row];
#pragma unroll
      for (unsigned k = 1; k < k_width; ++k) vector[k] = combine_(vector[k - 1], vector[k]);
      sums[row] = scan_lanes(vector[k_width - 1], combine_);
      before_[row] = from_lane_before(sums[row], 1);
      sums[row] = from_lane(sums[row], k_lanes - 1);
    }
    auto sum = sums[0];
#pragma unroll
    for (unsigned row = 1; row < k_rows; ++row) {
      before_[row] = lane_index() == 0 ? sum : combine_(sum, before_[row]);
      sum = combine_(sum, sums[row]);
    }
    if (lane_index() == 0) shared_.warp_sums[warp_index()] = sum;
  }

  /// The sum of the warps before this one, which the first warp lacks; sets that of the tile.
  __device__ __forceinline__ Element combine_warps()
  {
    auto const lane = lane_index();
    auto const warps = blockDim.x / k_lanes;
    auto const sums = scan_lanes(shared_.warp_sums[lane < warps ? lane : 0], combine_);
    sum_ = from_lane(sums, warps - 1);
    return from_lane(sums, warp_index() == 0 ? 0 : warp_index() - 1);
  }

  /// Warp 0 looks back within the group, warp 1 at the groups before.
  __device__ __forceinline__ void look_back_from(unsigned tile)
  {
    auto const from = back_from(tile);
    if (warp_index() == 0) look_back_in_group(from);
    if (warp_index() == 1 && !from.is_in_first_group()) {
      auto const prefix = from.prefix_of_group();
      if (lane_index() == 0) shared_.prefix_of_group = prefix;
    }
  }

  __device__ __forceinline__ void look_back_in_group(back from)
  {
    if (from.is_first_of_group()) return;
    auto const before = from.sum_before_in_group(sum_);
    if (lane_index() != 0) return;
    shared_.sum_before_in_group = before;
    if (!from.is_last_of_group()) return;
    sum_ = combine_(before, sum_);  // of the group, for its last tile
    if (!from.is_in_first_group())
      from.publish_group(sum_);
    else
      from.publish_prefix_of_next_group(Settings::is_exclusive ? combine_(init_, sum_) : sum_);
  }

  /// Puts what comes before the tile in front of its elements, and stores them.
  __device__ __forceinline__ void finish(rows<Element, k_rows>& items, unsigned tile,
                                         Element const& warp_prefix)
  {
    auto from = back_from(tile);
    auto has_prefix = Settings::is_exclusive || !from.is_in_first_group();
    auto prefix = from.is_in_first_group() ? init_ : shared_.prefix_of_group;
    if (threadIdx.x == 0 && from.is_last_of_group() && !from.is_in_first_group())
      from.publish_prefix_of_next_group(combine_(prefix, sum_));
    if (!from.is_first_of_group()) append(prefix, has_prefix, shared_.sum_before_in_group);
    if (warp_index() > 0) append(prefix, has_prefix, warp_prefix);
#pragma unroll
    for (unsigned row = 0; row < k_rows; ++row)
      put_before(items.vectors[row], prefix, has_prefix, row);
    auto const begin = std::size_t{tile} * tile_size_;
    store_tile(out_ + begin, items, n_ - begin, tile_size_, shared_.staged);
  }

  /// prefix = combine(prefix, value), or `value` if there is no prefix.
  __device__ __forceinline__ void append(Element& prefix, bool& has_prefix,
                                         Element const& value) const
  {
    prefix = has_prefix ? combine_(prefix, value) : value;
    has_prefix = true;
  }

  __device__ __forceinline__ void put_before(Element (&vector)[k_width], Element prefix,
                                             bool has_prefix, unsigned row) const
  {
    if (row > 0 || lane_index() > 0) append(prefix, has_prefix, before_[row]);
    if (Settings::is_exclusive) {
#pragma unroll
      for (unsigned k = k_width - 1; k > 0; --k) vector[k] = combine_(prefix, vector[k - 1]);
      vector[0] = prefix;
    } else if (has_prefix) {
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k) vector[k] = combine_(prefix, vector[k]);
    }
  }

  storage& shared_;
  Source in_;
  Element* out_;
  std::size_t n_;
  Element init_;
  slot<Element>* slots_;
  unsigned* ticket_;
  unsigned tile_size_;
  unsigned tiles_;  // one for each block
  Combine combine_;
  Element before_[k_rows];
  Element sum_;  // of the tile; after the look-back, in thread 0 of the last tile of a group, of it
};

}  // namespace fatlink_algorithms
