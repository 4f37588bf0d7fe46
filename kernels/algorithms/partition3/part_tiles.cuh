// SPDX-License-Identifier: Apache-2.0
// Divides an array into three parts, each in the order of the array. Each block orders its tile by
// parts in shared memory, and waits for the numbers of elements of the first and the second part in
// the tiles before it (look_back.cuh).
#pragma once

#include "../detail/look_back.cuh"
#include "../detail/rows.cuh"
#include "../select/copy_elements.cuh"

namespace fatlink_algorithms {

struct add_tile_counts {
  __device__ tile_counts operator()(tile_counts a, tile_counts b) const
  {
    return {a.first + b.first, a.second + b.second};
  }
};

/// Numbers of elements of the first and the second part in a tile: in one word, so that one scan
/// adds both.
struct packed_counts {
  unsigned word;

  __device__ unsigned first() const { return word & 0xFFFFU; }
  __device__ unsigned second() const { return word >> 16U; }
  __device__ unsigned sum() const { return first() + second(); }
};

/// Where the elements of each part and the sizes of the first two parts are written.
template <typename Element>
struct three_parts {
  Element* first;
  Element* second;
  Element* third;
  unsigned long long* first_count;
  unsigned long long* second_count;
};

/// @tparam Part  a function object that returns the part of an element
template <typename Element, typename Part, unsigned Threads, unsigned Rows>
class tile_divider {
  static constexpr unsigned k_warps = Threads / k_lanes;
  static constexpr unsigned k_width = k_vector<Element>;
  static constexpr unsigned k_size = tile_elements<Element, Rows>(Threads);
  static constexpr unsigned k_flags = 2 * k_width;  // bits of a row
  static_assert(k_warps >= 2 && k_warps <= k_lanes, "two warps look back");
  static_assert(k_size < 0x10000 && k_width <= 16, "counts and flags have 16 bits");

 public:
  struct storage {
    alignas(16) Element elements[k_size];
    tile_prefix<tile_counts> prefix;
    unsigned warp_counts[k_warps];
    unsigned tile;
  };

  /// The counts are not written if n is 0.
  __device__ tile_divider(storage& shared, Element const* in, three_parts<Element> out,
                          std::size_t n, slot<tile_counts>* slots, unsigned* ticket, Part part)
      : shared_(shared), in_(in), out_(out), n_(n), slots_(slots), ticket_(ticket), part_(part)
  {
  }

  /// Copies the elements of the block's tile.
  __device__ __forceinline__ void divide()
  {
    auto const tile = take_tile(ticket_, shared_.tile);
    auto const begin = std::size_t{tile} * k_size;
    size_ = n_ - begin < k_size ? static_cast<unsigned>(n_ - begin) : k_size;
    rows<Element, Rows> items;
    load_tile(items, in_ + begin, n_ - begin, k_size);
    rank(items);
    __syncthreads();
    auto const before = count_warps();
    tile_counts const counts = {count_.first(), count_.second()};
    if (threadIdx.x == 0) back_from(tile).publish_tile(counts);
    order(items, before);
    back_from(tile).find_prefix(counts, shared_.prefix);
    __syncthreads();
    finish(tile);
  }

 private:
  using back = look_back<tile_counts, add_tile_counts>;

  __device__ back back_from(unsigned tile) const
  {
    return {slots_, gridDim.x, tile, add_tile_counts()};
  }

  /// Sets for each row the parts of the lane's elements, and how many elements of the warp before
  /// them are of the first two parts.
  __device__ __forceinline__ void rank(rows<Element, Rows> const& items)
  {
    unsigned count = 0;
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      auto const flags = flags_of(items.vectors[row], index_in_tile<Element, Rows>(row));
      auto const own = packed_count(flags);
      auto const sum = scan_lanes(own, [](unsigned a, unsigned b) { return a + b; });
      set_flags(row, flags);
      ranks_[row] = count + sum - own;
      count += from_lane(sum, k_lanes - 1);
    }
    if (lane_index() == 0) shared_.warp_counts[warp_index()] = count;
  }

  // To save registers, the flags of the rows are packed.
  __device__ __forceinline__ void set_flags(unsigned row, unsigned flags)
  {
    auto const bit = row * k_flags;
    flags_[bit / 32] = (bit % 32 == 0 ? 0 : flags_[bit / 32]) | flags << bit % 32;
  }
  __device__ __forceinline__ unsigned flags_of_row(unsigned row) const
  {
    return flags_[row * k_flags / 32] >> row * k_flags % 32 & (~0U >> (32 - k_flags));
  }

  /// Bit k: whether element k of `vector` is of the first part; bit k_width + k: of the second one.
  /// Its first element is element `first` of the tile.
  __device__ __forceinline__ unsigned flags_of(Element const (&vector)[k_width],
                                               unsigned first) const
  {
    unsigned flags = 0;
#pragma unroll
    for (unsigned k = 0; k < k_width; ++k) {
      if (first + k >= size_) continue;
      auto const part = part_(vector[k]);
      if (part == 0) flags |= 1U << k;
      if (part == 1) flags |= 1U << (k_width + k);
    }
    return flags;
  }

  __device__ __forceinline__ static unsigned packed_count(unsigned flags)
  {
    return static_cast<unsigned>(__popc(flags & ((1U << k_width) - 1))) |
           static_cast<unsigned>(__popc(flags >> k_width)) << 16U;
  }

  /// Sets count_. Returns the packed counts of the warps before this one.
  __device__ __forceinline__ unsigned count_warps()
  {
    auto const lane = lane_index();
    auto const sums = scan_lanes(lane < k_warps ? shared_.warp_counts[lane] : 0,
                                 [](unsigned a, unsigned b) { return a + b; });
    count_ = {from_lane(sums, k_warps - 1)};
    auto const before = from_lane(sums, warp_index() == 0 ? 0 : warp_index() - 1);
    return warp_index() == 0 ? 0 : before;
  }

  /// Writes the elements to shared memory: the first part, the second one, the third one. What
  /// load_tile puts behind a smaller tile has no flags, and comes last.
  __device__ __forceinline__ void order(rows<Element, Rows> const& items, unsigned warps_before)
  {
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      auto const first = index_in_tile<Element, Rows>(row);
      auto const flags = flags_of_row(row);
      packed_counts before = {warps_before + ranks_[row]};
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k) {
        auto const is_first = flags >> k & 1U;
        auto const is_second = flags >> (k_width + k) & 1U;
        auto place = count_.sum() + first + k - before.sum();
        if (is_first != 0) place = before.first();
        if (is_second != 0) place = count_.first() + before.second();
        shared_.elements[place] = items.vectors[row][k];
        before.word += is_first | is_second << 16U;
      }
    }
  }

  /// Copies the elements from shared memory.
  __device__ __forceinline__ void finish(unsigned tile) const
  {
    auto const before =
        add_tile_counts()(shared_.prefix.before_group, shared_.prefix.before_in_group);
    if (threadIdx.x == 0) publish_end(tile, before);
    auto const* const elements = shared_.elements;
    copy_elements<Threads>(out_.first + before.first, elements, count_.first());
    copy_elements<Threads>(out_.second + before.second, elements + count_.first(), count_.second());
    copy_elements<Threads>(out_.third + (std::size_t{tile} * k_size - before.first - before.second),
                           elements + count_.sum(), size_ - count_.sum());
  }

  /// What later tiles and the caller need of the counts up to the end of the tile.
  __device__ __forceinline__ void publish_end(unsigned tile, tile_counts const& before) const
  {
    auto from = back_from(tile);
    auto const after = add_tile_counts()(before, {count_.first(), count_.second()});
    if (from.is_last_of_group() && !from.is_in_first_group())
      from.publish_prefix_of_next_group(after);
    if (tile != gridDim.x - 1) return;
    *out_.first_count = after.first;
    *out_.second_count = after.second;
  }

  storage& shared_;
  Element const* in_;
  three_parts<Element> out_;
  std::size_t n_;
  slot<tile_counts>* slots_;
  unsigned* ticket_;
  Part part_;
  unsigned size_ = 0;          // of the tile
  packed_counts count_ = {0};  // of the tile
  unsigned flags_[(Rows * k_flags + 31) / 32];
  unsigned ranks_[Rows];  // packed counts
};

}  // namespace fatlink_algorithms
