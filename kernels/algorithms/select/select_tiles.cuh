// SPDX-License-Identifier: Apache-2.0
// Copies the elements that `keep` accepts, in order; a partition also copies the others to a second
// array. `keep` gets an element, or the element before it and the element. Each block compacts its
// tile in shared memory, and waits for the number of elements kept in the tiles before it
// (look_back.cuh).
#pragma once

#include "../detail/look_back.cuh"
#include "../detail/rows.cuh"
#include "copy_elements.cuh"

namespace fatlink_algorithms {

template <unsigned Threads, unsigned Rows, bool Partition>
struct select_settings {
  static constexpr unsigned threads = Threads;  // of a block, at least 64
  static constexpr unsigned rows = Rows;        // vectors of a thread
  static constexpr bool is_partition = Partition;
};

/// Where elements are copied to.
template <typename Element>
struct copy_store {
  Element* out;
};

/// @tparam Keep   a predicate of an element; if Keep::k_takes_previous, of the element before it
///   and the element, and the first element of the array is always kept
/// @tparam Store  copy_store, or a function object of an index and the element that is kept there
/// @tparam Source  a pointer, or a hook_source
template <typename Element, typename Keep, typename Settings, typename Store = copy_store<Element>,
          typename Source = Element const*>
class tile_selector {
  static constexpr unsigned k_rows = Settings::rows;
  static constexpr unsigned k_warps = Settings::threads / k_lanes;
  static constexpr unsigned k_width = k_vector<Element>;
  static_assert(k_warps >= 2 && k_warps <= k_lanes, "two warps look back");

 public:
  static constexpr unsigned tile_size = tile_elements<Element, k_rows>(Settings::threads);

  struct storage {
    alignas(16) Element elements[tile_size];
    tile_prefix<tile_count> prefix;
    unsigned warp_counts[k_warps];
    unsigned tile;
  };

  /// `rejected` is used only by a partition. `count` receives the number of kept elements; it is
  /// not written if n is 0.
  __device__ tile_selector(storage& shared, Source in, Store store, Element* rejected,
                           unsigned long long* count, std::size_t n, slot<tile_count>* slots,
                           unsigned* ticket, Keep keep)
      : shared_(shared),
        in_(in),
        store_(store),
        rejected_(rejected),
        count_(count),
        n_(n),
        slots_(slots),
        ticket_(ticket),
        tiles_(static_cast<unsigned>((n + tile_size - 1) / tile_size)),
        keep_(keep)
  {
  }

  /// Copies the elements of the block's tile.
  __device__ __forceinline__ void select()
  {
    auto const tile = take_tile(ticket_, shared_.tile);
    rows<Element, k_rows> items;
    load(items, tile);
    rank(items, tile);
    __syncthreads();
    auto const kept_before = count_warps();
    if (threadIdx.x == 0) back_from(tile).publish_tile({count_of_tile_});
    compact(items, kept_before, elements_of(tile));
    back_from(tile).find_prefix({count_of_tile_}, shared_.prefix);
    __syncthreads();
    finish(tile);
  }

 private:
  using back = look_back<tile_count, add_counts>;

  __device__ back back_from(unsigned tile) const { return {slots_, tiles_, tile, add_counts()}; }

  /// Elements of the tile, which is smaller if it is the last one.
  __device__ __forceinline__ unsigned elements_of(unsigned tile) const
  {
    auto const rest = n_ - std::size_t{tile} * tile_size;
    return rest < tile_size ? static_cast<unsigned>(rest) : tile_size;
  }

  __device__ __forceinline__ void load(rows<Element, k_rows>& items, unsigned tile) const
  {
    auto const begin = std::size_t{tile} * tile_size;
    load_tile(items, in_ + begin, n_ - begin, tile_size);
  }

  // To save registers, the k_width bits and the 16-bit rank of each row are packed.
  __device__ __forceinline__ void set_bits(unsigned row, unsigned bits)
  {
    auto const first = row * k_width;
    bits_[first / 32] = (first % 32 == 0 ? 0 : bits_[first / 32]) | bits << first % 32;
  }
  __device__ __forceinline__ unsigned bits_of(unsigned row) const
  {
    return bits_[row * k_width / 32] >> row * k_width % 32 & ((1U << k_width) - 1);
  }
  __device__ __forceinline__ void set_rank(unsigned row, unsigned rank)
  {
    ranks_[row / 2] = row % 2 == 0 ? rank : ranks_[row / 2] | rank << 16U;
  }
  __device__ __forceinline__ unsigned rank_of(unsigned row) const
  {
    return ranks_[row / 2] >> row % 2 * 16 & 0xFFFFU;
  }

  /// Sets for each row which elements of the lane are kept (a bit each) and how many elements of
  /// the warp are kept before them.
  __device__ __forceinline__ void rank(rows<Element, k_rows> const& items, unsigned tile)
  {
    auto const size = elements_of(tile);
    unsigned count = 0;
#pragma unroll
    for (unsigned row = 0; row < k_rows; ++row) {
      auto const first = index_in_tile<Element, k_rows>(row);
      unsigned bits = 0;
      if constexpr (Keep::k_takes_previous) {
        bits = compare_neighbors(items.vectors[row], tile, first, size);
      } else {
#pragma unroll
        for (unsigned k = 0; k < k_width; ++k)
          if (first + k < size && keep_(items.vectors[row][k])) bits |= 1U << k;
      }
      set_bits(row, bits);
      count += rank_lanes(row, bits, count);
    }
    if (lane_index() == 0) shared_.warp_counts[warp_index()] = count;
  }

  /// Returns a bit for each kept element of `vector`; its first element is element `first` of the
  /// tile.
  __device__ __forceinline__ unsigned compare_neighbors(Element const (&vector)[k_width],
                                                        unsigned tile, unsigned first,
                                                        unsigned size) const
  {
    auto previous = from_lane_before(vector[k_width - 1], 1);
    auto const index = std::size_t{tile} * tile_size + first;
    if (lane_index() == 0 && index > 0 && first < size) previous = in_[index - 1];
    unsigned bits = 0;
#pragma unroll
    for (unsigned k = 0; k < k_width; ++k) {
      if (first + k < size && (index + k == 0 || keep_(previous, vector[k]))) bits |= 1U << k;
      previous = vector[k];
    }
    return bits;
  }

  /// Sets the rank of a row. Returns the number of elements that the warp keeps in it.
  __device__ __forceinline__ unsigned rank_lanes(unsigned row, unsigned bits, unsigned before)
  {
    unsigned sum = 0;
    if (k_width <= 4) {
      unsigned lanes_before;
      asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_before));
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k) {
        auto const ballot = __ballot_sync(k_all_lanes, (bits >> k & 1U) != 0);
        sum += __popc(ballot);
        before += __popc(ballot & lanes_before);
      }
      set_rank(row, before);
    } else {
      unsigned const count = __popc(bits);
      sum = scan_lanes(count, [](unsigned a, unsigned b) { return a + b; });
      set_rank(row, before + sum - count);
      sum = from_lane(sum, k_lanes - 1);
    }
    return sum;
  }

  /// Sets count_of_tile_. Returns the number of elements that the warps before this one keep.
  __device__ __forceinline__ unsigned count_warps()
  {
    auto const lane = lane_index();
    auto const sums = scan_lanes(lane < k_warps ? shared_.warp_counts[lane] : 0,
                                 [](unsigned a, unsigned b) { return a + b; });
    count_of_tile_ = from_lane(sums, k_warps - 1);
    auto const before = from_lane(sums, warp_index() == 0 ? 0 : warp_index() - 1);
    return warp_index() == 0 ? 0 : before;
  }

  /// Writes the elements to shared memory: those kept, for a partition followed by the others.
  __device__ __forceinline__ void compact(rows<Element, k_rows> const& items, unsigned kept_before,
                                          unsigned size)
  {
#pragma unroll
    for (unsigned row = 0; row < k_rows; ++row) {
      auto const first = index_in_tile<Element, k_rows>(row);
      auto const bits = bits_of(row);
      auto place = kept_before + rank_of(row);
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k) {
        auto const is_kept = (bits >> k & 1U) != 0;
        if (is_kept)
          shared_.elements[place] = items.vectors[row][k];
        else if (Settings::is_partition && first + k < size)
          shared_.elements[count_of_tile_ + first + k - place] = items.vectors[row][k];
        place += is_kept ? 1 : 0;
      }
    }
  }

  /// Copies the elements from shared memory.
  __device__ __forceinline__ void finish(unsigned tile)
  {
    auto const before = shared_.prefix.before_group.value + shared_.prefix.before_in_group.value;
    if (threadIdx.x == 0) {
      auto from = back_from(tile);
      if (from.is_last_of_group() && !from.is_in_first_group())
        from.publish_prefix_of_next_group({before + count_of_tile_});
      if (tile == tiles_ - 1) *count_ = before + count_of_tile_;
    }
    write_kept(store_, before);
    if (Settings::is_partition)
      copy_elements<Settings::threads>(rejected_ + (std::size_t{tile} * tile_size - before),
                                       shared_.elements + count_of_tile_,
                                       elements_of(tile) - count_of_tile_);
  }

  __device__ __forceinline__ void write_kept(copy_store<Element> const& store,
                                             std::size_t before) const
  {
    copy_elements<Settings::threads>(store.out + before, shared_.elements, count_of_tile_);
  }
  template <typename Function>
  __device__ __forceinline__ void write_kept(Function const& store, std::size_t before) const
  {
#pragma unroll 4
    for (auto k = threadIdx.x; k < count_of_tile_; k += Settings::threads)
      store(before + k, shared_.elements[k]);
  }

  storage& shared_;
  Source in_;
  Store store_;
  Element* rejected_;
  unsigned long long* count_;
  std::size_t n_;
  slot<tile_count>* slots_;
  unsigned* ticket_;
  unsigned tiles_;
  Keep keep_;
  unsigned count_of_tile_ = 0;
  unsigned bits_[(k_rows * k_width + 31) / 32];
  unsigned ranks_[(k_rows + 1) / 2];
};

}  // namespace fatlink_algorithms
