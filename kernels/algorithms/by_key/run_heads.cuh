// SPDX-License-Identifier: Apache-2.0
// The heads of a tile: the elements at which runs of equal keys begin. Lanes have elements as in
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

/// The number of elements from `begin` on, of `n`; none if `begin` is beyond the end.
__device__ __forceinline__ std::size_t rest_from(std::size_t begin, std::size_t n)
{
  return n > begin ? n - begin : 0;
}

/// Sets the number of runs where there are no elements: in the first tile, without a rest.
__device__ __forceinline__ void clear_count(std::size_t begin, unsigned long long* count)
{
  if (begin == 0 && threadIdx.x == 0) *count = 0;
}

struct add_numbers {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

template <unsigned Threads, unsigned Rows, unsigned Width>
class run_heads {
  static constexpr unsigned k_row = k_lanes * Width;  // elements of a row
  // The counts of several rows are scanned together, in fields of a word.
  static constexpr unsigned k_field = k_row < 256 ? 8 : 16;
  static constexpr unsigned k_fields = 32 / k_field;
  static constexpr unsigned k_words = (Rows + k_fields - 1) / k_fields;
  static_assert(Width <= 16 && 32 % Width == 0, "the bits of a row are in one word");

 public:
  static constexpr unsigned tile_size = Threads * Rows * Width;

  struct storage {
    unsigned short places[tile_size];  // of the heads in the tile, in order
  };

  /// Finds the heads of the tile that begins with element `begin`; `rest` elements follow, its own
  /// among them. Returns the number of heads in the warp.
  __device__ __forceinline__ unsigned find(key_hooks keys, std::size_t begin, std::size_t rest)
  {
    auto const is_aligned = reinterpret_cast<std::size_t>(keys.keys) % 16 == 0;
    if (is_aligned && begin > 0 && rest > tile_size)
      find_in_full_tile(keys, begin);
    else
      find_in_part(keys, begin, rest);
    return count();
  }

  /// Whether the lane's last element ends a run.
  __device__ __forceinline__ bool ends_run() const { return ends_run_; }

  /// A bit for each element of the lane in `row`: whether it is a head.
  __device__ __forceinline__ unsigned bits(unsigned row) const
  {
    return bits_[row * Width / 32] >> row * Width % 32 & ((1U << Width) - 1);
  }
  /// The number of heads of the warp before the elements of the lane in `row`.
  __device__ __forceinline__ unsigned before(unsigned row) const { return before_[row]; }

  /// Index, within the tile, of the first element of this lane in `row`.
  __device__ __forceinline__ static unsigned index_of(unsigned row)
  {
    return ((warp_index() * Rows + row) * k_lanes + lane_index()) * Width;
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

 private:
  __device__ __forceinline__ void set_bits(unsigned row, unsigned bits)
  {
    auto const place = row * Width;
    bits_[place / 32] = (place % 32 == 0 ? 0 : bits_[place / 32]) | bits << place % 32;
  }

  /// Without branches, and with an alignment that the compiler knows, so that it joins the loads of
  /// the hook, and all of them are in flight together.
  __device__ __forceinline__ void find_in_full_tile(key_hooks keys, std::size_t begin)
  {
    auto const* const aligned = __builtin_assume_aligned(keys.keys, 16);
    auto const first = begin + index_of(0);
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      unsigned bits = 0;
#pragma unroll
      for (unsigned k = 0; k < Width; ++k)
        bits |= (same_key(aligned, first + std::size_t{row} * k_row + k) ? 0U : 1U) << k;
      set_bits(row, bits);
    }
    ends_run_ = !same_key(aligned, first + std::size_t{Rows - 1} * k_row + Width);
  }

  __device__ __forceinline__ void find_in_part(key_hooks keys, std::size_t begin, std::size_t rest)
  {
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      unsigned bits = 0;
#pragma unroll 1
      for (unsigned k = 0; k < Width; ++k)
        if (index_of(row) + k < rest && keys.is_head(begin + index_of(row) + k)) bits |= 1U << k;
      set_bits(row, bits);
    }
    auto const next = index_of(Rows - 1) + Width;
    ends_run_ = next >= rest || keys.is_head(begin + next);
  }

  /// Sets before_. Returns the number of heads in the warp.
  __device__ __forceinline__ unsigned count()
  {
    unsigned count = 0;
#pragma unroll
    for (unsigned word = 0; word < k_words; ++word) {
      unsigned own = 0;
#pragma unroll
      for (unsigned field = 0; field < k_fields && word * k_fields + field < Rows; ++field)
        own |= __popc(bits(word * k_fields + field)) << field * k_field;
      auto const sums = scan_lanes(own, add_numbers());
      auto const totals = from_lane(sums, k_lanes - 1);
#pragma unroll
      for (unsigned field = 0; field < k_fields && word * k_fields + field < Rows; ++field) {
        before_[word * k_fields + field] = count + field_of(sums - own, field);
        count += field_of(totals, field);
      }
    }
    return count;
  }
  __device__ __forceinline__ static unsigned field_of(unsigned word, unsigned field)
  {
    return word >> field * k_field & ((1U << k_field) - 1);
  }

  unsigned bits_[(Rows * Width + 31) / 32];
  unsigned before_[Rows];
  bool ends_run_;
};

}  // namespace fatlink_algorithms
