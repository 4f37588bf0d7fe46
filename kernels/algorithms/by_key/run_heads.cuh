// SPDX-License-Identifier: Apache-2.0
// The heads of a tile: the elements at which runs of equal keys begin. Lanes hold elements as in
// rows.cuh: each warp consecutive rows, each lane `Width` consecutive elements of a row.
#pragma once

#include <cstddef>

#include "../detail/lanes.cuh"

namespace fatlink_algorithms {

/// An array of keys of any type, with the hooks of the contract same_key.
struct key_hooks {
  void const* keys;
  void* out;

  __device__ __forceinline__ bool is_head(std::size_t index) const
  {
    return index == 0 || !same_key(keys, index);
  }
  __device__ __forceinline__ void copy(std::size_t place, std::size_t index) const
  {
    copy_key(out, place, keys, index);
  }
};

struct add_numbers {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

template <unsigned Threads, unsigned Rows, unsigned Width>
class run_heads {
  static_assert(Width <= 16, "bits of a row do not cross a word");

 public:
  static constexpr unsigned tile_size = Threads * Rows * Width;

  struct storage {
    unsigned short places[tile_size];  // of the heads in the tile, in order
  };

  /// Finds the heads among the `size` elements of the tile that begins with element `begin`.
  __device__ __forceinline__ void find(key_hooks keys, std::size_t begin, unsigned size)
  {
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      auto const first = index_of(row);
      unsigned bits = 0;
#pragma unroll
      for (unsigned k = 0; k < Width; ++k)
        if (first + k < size && keys.is_head(begin + first + k)) bits |= 1U << k;
      auto const place = row * Width;
      bits_[place / 32] = (place % 32 == 0 ? 0 : bits_[place / 32]) | bits << place % 32;
    }
  }

  /// Sets before(). Returns the number of heads in the warp.
  __device__ __forceinline__ unsigned count()
  {
    unsigned count = 0;
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      before_[row] = count;
      count += count_row(row);
    }
    return count;
  }

  /// Writes the places of the heads, after `before_warp` heads of earlier warps.
  __device__ __forceinline__ void write_places(storage& shared, unsigned before_warp) const
  {
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      auto const heads = bits(row);
      auto rank = before_warp + before_[row];
#pragma unroll
      for (unsigned k = 0; k < Width; ++k)
        if ((heads >> k & 1U) != 0)
          shared.places[rank++] = static_cast<unsigned short>(index_of(row) + k);
    }
  }

  /// A bit for each element of the lane in `row`: whether it is a head.
  __device__ __forceinline__ unsigned bits(unsigned row) const
  {
    return bits_[row * Width / 32] >> row * Width % 32 & ((1U << Width) - 1);
  }
  /// The number of heads of the warp before the elements of the lane in `row`.
  __device__ __forceinline__ unsigned before(unsigned row) const
  {
    return before_[row];
  }

  /// Index, within the tile, of the first element of this lane in `row`.
  __device__ __forceinline__ static unsigned index_of(unsigned row)
  {
    return ((warp_index() * Rows + row) * k_lanes + lane_index()) * Width;
  }

 private:
  /// Adds the heads in the lanes before to before_. Returns the number of heads in the row.
  __device__ __forceinline__ unsigned count_row(unsigned row)
  {
    auto const heads = bits(row);
    if (Width > 4) {
      unsigned const own = __popc(heads);
      auto const sum = scan_lanes(own, add_numbers());
      before_[row] += sum - own;
      return from_lane(sum, k_lanes - 1);
    }
    unsigned lanes_before;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_before));
    unsigned count = 0;
#pragma unroll
    for (unsigned k = 0; k < Width; ++k) {
      auto const ballot = __ballot_sync(k_all_lanes, (heads >> k & 1U) != 0);
      before_[row] += __popc(ballot & lanes_before);
      count += __popc(ballot);
    }
    return count;
  }

  unsigned bits_[(Rows * Width + 31) / 32];
  unsigned before_[Rows];
};

}  // namespace fatlink_algorithms
