// SPDX-License-Identifier: Apache-2.0
// Copies the elements that `keep` accepts, in order, and for a partition the others to a second
// array, in one pass. Each block compacts its tile in shared memory, and loads the next one while
// it waits for the number of elements that the tiles before it keep (look_back.cuh).
#pragma once

#include <fatlink/algorithms/look_back.cuh>
#include <fatlink/algorithms/rows.cuh>

namespace fatlink_algorithms {

template <unsigned Threads, unsigned Rows, bool Partition, bool Prefetch, unsigned Sleep,
          cache_use Use>
struct select_settings {
  static constexpr unsigned threads = Threads;  // of a block, at least 64
  static constexpr unsigned rows = Rows;        // vectors of a thread
  static constexpr bool is_partition = Partition;
  static constexpr bool prefetches = Prefetch;  // blocks take several tiles
  static constexpr unsigned sleep = Sleep;  // nanoseconds between two reads of what is not there
  static constexpr cache_use use = Use;
};

struct add_counts {
  __device__ tile_count operator()(tile_count a, tile_count b) const { return {a.value + b.value}; }
};

template <typename Element, typename Keep, typename Settings>
class tile_selector {
  static constexpr unsigned k_rows = Settings::rows;
  static constexpr unsigned k_warps = Settings::threads / k_lanes;
  static constexpr unsigned k_width = k_vector<Element>;
  static_assert(k_warps >= 2 && k_warps <= k_lanes, "two warps look back");

 public:
  static constexpr unsigned tile_size = k_tile<Element, Settings::threads, k_rows>;

  struct storage {
    alignas(16) Element elements[tile_size];
    tile_count before_in_group;
    tile_count before_group;
    unsigned warp_counts[k_warps];
    unsigned tile;
  };

  /// `rejected` is for a partition only; `count` receives the number of elements kept, unless n is
  /// 0.
  __device__ tile_selector(storage& shared, Element const* in, Element* kept, Element* rejected,
                           unsigned long long* count, std::size_t n, slot<tile_count>* slots,
                           unsigned* ticket, Keep keep)
      : shared_(shared),
        in_(in),
        kept_(kept),
        rejected_(rejected),
        count_(count),
        n_(n),
        slots_(slots),
        ticket_(ticket),
        tiles_(static_cast<unsigned>((n + tile_size - 1) / tile_size)),
        keep_(keep)
  {
  }

  /// Copies elements of tiles until there are none.
  __device__ __forceinline__ void select()
  {
    rows<Element, k_rows> items;
    auto tile = first_tile();
    if (tile < tiles_) load(items, tile);
    while (tile < tiles_) {
      rank(items, tile);
      if (threadIdx.x == 0) shared_.tile = coming_;
      __syncthreads();
      auto const next = Settings::prefetches ? shared_.tile : tiles_;
      if (Settings::prefetches && threadIdx.x == 0) coming_ = atomicAdd(ticket_, 1U);
      auto const kept_before = count_warps();
      if (threadIdx.x == 0) back_from(tile).publish_tile({count_of_tile_});
      compact(items, kept_before, elements_of(tile));
      if (next < tiles_) load(items, next);
      look_back_from(tile);
      __syncthreads();
      finish(tile);
      tile = next;
    }
  }

 private:
  using back = look_back<tile_count, add_counts, Settings::sleep>;

  __device__ back back_from(unsigned tile) const { return {slots_, tiles_, tile, add_counts()}; }

  /// Elements of the tile, which is smaller if it is the last one.
  __device__ __forceinline__ unsigned elements_of(unsigned tile) const
  {
    auto const rest = n_ - std::size_t{tile} * tile_size;
    return rest < tile_size ? static_cast<unsigned>(rest) : tile_size;
  }

  /// The tile of the block, and the number of its next one, which thread 0 takes before it is
  /// needed.
  __device__ __forceinline__ unsigned first_tile()
  {
    if (threadIdx.x == 0) shared_.tile = atomicAdd(ticket_, 1U);
    __syncthreads();
    auto const tile = shared_.tile;
    if (Settings::prefetches && threadIdx.x == 0) coming_ = atomicAdd(ticket_, 1U);
    __syncthreads();
    return tile;
  }

  __device__ __forceinline__ void load(rows<Element, k_rows>& items, unsigned tile) const
  {
    auto const begin = std::size_t{tile} * tile_size;
    load_tile<Settings::use, Settings::threads>(items, in_ + begin, n_ - begin);
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
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k)
        if (first + k < size && keep_(items.vectors[row][k])) bits |= 1U << k;
      bits_[row] = bits;
      count += rank_lanes(row, count);
    }
    if (lane_index() == 0) shared_.warp_counts[warp_index()] = count;
  }

  /// The number of elements kept in a row.
  __device__ __forceinline__ unsigned rank_lanes(unsigned row, unsigned before)
  {
    unsigned sum = 0;
    if (k_width <= 4) {
      unsigned lanes_before;
      asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_before));
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k) {
        auto const ballot = __ballot_sync(k_all_lanes, (bits_[row] >> k & 1U) != 0);
        sum += __popc(ballot);
        before += __popc(ballot & lanes_before);
      }
      ranks_[row] = before;
    } else {
      unsigned const count = __popc(bits_[row]);
      sum = scan_lanes(count, [](unsigned a, unsigned b) { return a + b; });
      ranks_[row] = before + sum - count;
      sum = from_lane(sum, k_lanes - 1);
    }
    return sum;
  }

  /// The number of elements that the warps before this one keep; sets that of the tile.
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
      auto place = kept_before + ranks_[row];
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k) {
        auto const is_kept = (bits_[row] >> k & 1U) != 0;
        if (is_kept)
          shared_.elements[place] = items.vectors[row][k];
        else if (Settings::is_partition && first + k < size)
          shared_.elements[count_of_tile_ + first + k - place] = items.vectors[row][k];
        place += is_kept ? 1 : 0;
      }
    }
  }

  /// Warp 0 looks back within the group, warp 1 at the groups before.
  __device__ __forceinline__ void look_back_from(unsigned tile)
  {
    auto const from = back_from(tile);
    if (warp_index() == 0) look_back_in_group(from);
    if (warp_index() == 1) {
      tile_count before = {0};
      if (!from.is_in_first_group()) before = from.prefix_of_group();
      if (lane_index() == 0) shared_.before_group = before;
    }
  }

  __device__ __forceinline__ void look_back_in_group(back from)
  {
    tile_count before = {0};
    if (!from.is_first_of_group()) before = from.sum_before_in_group({count_of_tile_});
    if (lane_index() != 0) return;
    shared_.before_in_group = before;
    if (!from.is_last_of_group()) return;
    before.value += count_of_tile_;
    if (from.is_in_first_group())
      from.publish_prefix_of_next_group(before);
    else
      from.publish_group(before);
  }

  /// Copies the elements from shared memory.
  __device__ __forceinline__ void finish(unsigned tile)
  {
    auto const before = shared_.before_group.value + shared_.before_in_group.value;
    if (threadIdx.x == 0) {
      auto from = back_from(tile);
      if (from.is_last_of_group() && !from.is_in_first_group())
        from.publish_prefix_of_next_group({before + count_of_tile_});
      if (tile == tiles_ - 1) *count_ = before + count_of_tile_;
    }
    copy(kept_ + before, 0, count_of_tile_);
    if (Settings::is_partition)
      copy(rejected_ + (std::size_t{tile} * tile_size - before), count_of_tile_, elements_of(tile));
  }

  /// Copies the elements `begin` to `end` of shared memory to `out`.
  __device__ __forceinline__ void copy(Element* out, unsigned begin, unsigned end) const
  {
#pragma unroll 4
    for (auto k = begin + threadIdx.x; k < end; k += Settings::threads)
      out[k - begin] = shared_.elements[k];
  }

  storage& shared_;
  Element const* in_;
  Element* kept_;
  Element* rejected_;
  unsigned long long* count_;
  std::size_t n_;
  slot<tile_count>* slots_;
  unsigned* ticket_;
  unsigned tiles_;
  Keep keep_;
  unsigned coming_ = 0;  // in thread 0: the ticket after those of the current and the next tile
  unsigned count_of_tile_ = 0;
  unsigned bits_[k_rows];
  unsigned ranks_[k_rows];
};

}  // namespace fatlink_algorithms
