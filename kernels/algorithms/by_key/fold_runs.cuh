// SPDX-License-Identifier: Apache-2.0
// Folds the values of each run of equal keys, in one pass over the arrays: each block folds a tile
// and waits for the fold of the run that the tiles before it leave open (prefix_finder.cuh).
#pragma once

#include "../detail/prefix_finder.cuh"
#include "../detail/rows.cuh"
#include "../select/copy_elements.cuh"
#include "run_folds.cuh"
#include "run_heads.cuh"

namespace fatlink_algorithms {

template <unsigned Threads, unsigned Rows>
struct run_settings {
  static constexpr unsigned threads = Threads;  // of a block, at least 64
  static constexpr unsigned rows = Rows;        // vectors of a thread
};

/// Call either reduce(), which writes the key and the fold of each run, or scan(), which writes for
/// each element the fold from the beginning of its run.
/// @tparam Source  of the values: a pointer, or a hook_source
template <typename Element, typename Combine, typename Settings, typename Source>
class run_folder {
  static constexpr unsigned k_rows = Settings::rows;
  static constexpr unsigned k_warps = Settings::threads / k_lanes;
  static constexpr unsigned k_width = k_vector<Element>;
  using heads = run_heads<Settings::threads, k_rows, k_width>;
  using fold = run_fold<Element>;
  using combine_folds = combine_runs<Element, Combine>;
  using finder_of_folds = prefix_finder<fold, combine_folds>;

 public:
  static constexpr unsigned tile_size = heads::tile_size;

  struct storage {
    alignas(16) Element elements[tile_size + 1];  // reduce(): folds of runs; scan(): rows
    typename heads::storage heads;
    typename finder_of_folds::storage before;
    fold warps[k_warps];
    unsigned tile;
    bool ends_run;  // whether the last run of the tile ends in it
  };

  __device__ run_folder(storage& shared, Source in, key_hooks keys, std::size_t n,
                        slot<fold>* slots, unsigned* ticket, Combine combine)
      : shared_(shared),
        keys_(keys),
        slots_(slots),
        combine_(combine),
        tile_(take_tile(ticket, shared.tile)),
        begin_(std::size_t{tile_} * tile_size),
        rest_(n - begin_)
  {
    load_tile(items_, in + begin_, rest_, tile_size);
    auto const runs = heads_.find(keys, begin_, rest_);
    fold_warp(runs);
    if (threadIdx.x == Settings::threads - 1) shared_.ends_run = heads_.ends_run();
    __syncthreads();
    fold_block();
  }

  /// The last tile sets `count` to the number of runs.
  __device__ __forceinline__ void reduce(Element* out, unsigned long long* count)
  {
    finder_of_folds finder(shared_.before, slots_, tile_, sum_, combine_folds{combine_});
    finder.publish();
    write_folds();
    heads_.write_places(shared_.heads, before_warp_.runs);
    finder.look_back();
    __syncthreads();
    fold before = {};
    finder.find(before);
    copy_runs(out, before);
    if (threadIdx.x == 0 && rest_ <= tile_size) *count = before.runs + sum_.runs;
  }

  __device__ __forceinline__ void scan(Element* out)
  {
    finder_of_folds finder(shared_.before, slots_, tile_, sum_, combine_folds{combine_});
    finder.publish();
    finder.look_back();
    __syncthreads();
    auto before = before_warp_;
    auto const has_tiles = finder.find(before);
    if (has_tiles && warp_index() > 0) before = combine_folds{combine_}(before, before_warp_);
    put_before(before.value, has_tiles || warp_index() > 0);
    store_tile(out + begin_, items_, rest_, tile_size, shared_.elements);
  }

 private:
  /// Folds within each vector of the lane, and sets before_ and the fold of the warp, which has
  /// `runs` heads.
  __device__ __forceinline__ void fold_warp(unsigned runs)
  {
    unsigned lanes_before;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_before));
    auto const lane = lane_index();
    Element sum = {};
#pragma unroll
    for (unsigned row = 0; row < k_rows; ++row) {
      auto const bits = heads_.bits(row);
      auto const lanes = __ballot_sync(k_all_lanes, bits != 0);
      auto value = fold_vector(items_.vectors[row], bits);
      auto const begun = lanes & (lanes_before | 1U << lane);
      auto const reach = begun == 0 ? lane : lane + __clz(static_cast<int>(begun)) - 31;
      value = fold_lanes(value, reach);
      before_[row] = from_lane_before(value, 1);
      if (row > 0 && (lanes & lanes_before) == 0)
        before_[row] = lane == 0 ? sum : combine_(sum, before_[row]);
      auto const last = from_lane(value, k_lanes - 1);
      sum = row == 0 || lanes != 0 ? last : combine_(sum, last);
    }
    if (lane == 0) shared_.warps[warp_index()] = {runs, sum};
  }

  /// Replaces each element by the fold from the last head in the vector, or from its beginning.
  /// Returns the last one.
  __device__ __forceinline__ Element fold_vector(Element (&vector)[k_width], unsigned bits) const
  {
#pragma unroll
    for (unsigned k = 1; k < k_width; ++k)
      if ((bits >> k & 1U) == 0) vector[k] = combine_(vector[k - 1], vector[k]);
    return vector[k_width - 1];
  }

  /// Combines the values of the lanes from `reach` before this one to this one.
  __device__ __forceinline__ Element fold_lanes(Element value, unsigned reach) const
  {
#pragma unroll
    for (unsigned distance = 1; distance < k_lanes; distance *= 2) {
      auto const before = from_lane_before(value, distance);
      if (distance <= reach) value = combine_(before, value);
    }
    return value;
  }

  /// Sets sum_ and before_warp_, which warp 0 lacks.
  __device__ __forceinline__ void fold_block()
  {
    auto const lane = lane_index();
    auto const folds =
        scan_lanes(shared_.warps[lane < k_warps ? lane : 0], combine_folds{combine_});
    sum_ = from_lane(folds, k_warps - 1);
    before_warp_ = from_lane(folds, warp_index() == 0 ? 0 : warp_index() - 1);
    if (warp_index() == 0) before_warp_.runs = 0;
  }

  /// Combines what precedes each vector with its elements before the first head. `value` precedes
  /// the warp if `has_value`.
  __device__ __forceinline__ void put_before(Element const& value, bool has_value)
  {
#pragma unroll
    for (unsigned row = 0; row < k_rows; ++row) {
      auto const is_first = row == 0 && lane_index() == 0;
      auto before = before_[row];
      if (heads_.before(row) == 0 && has_value) before = is_first ? value : combine_(value, before);
      if (is_first && !has_value) continue;
      auto const bits = heads_.bits(row);
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k)
        if ((bits & ((2U << k) - 1)) == 0)
          items_.vectors[row][k] = combine_(before, items_.vectors[row][k]);
    }
  }

  /// Writes the folds of the runs that end in the tile: element 0 is for a run that begins in an
  /// earlier tile, element r for the run of head r - 1.
  __device__ __forceinline__ void write_folds()
  {
#pragma unroll
    for (unsigned row = 0; row < k_rows; ++row) {
      auto const ends = ends_of(row);
      if (ends == 0) continue;
      auto const bits = heads_.bits(row);
      auto const before = before_of(row);
      auto run = static_cast<unsigned>(before_warp_.runs) + heads_.before(row);
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k) {
        run += bits >> k & 1U;
        if ((ends >> k & 1U) == 0) continue;
        auto const& value = items_.vectors[row][k];
        auto const is_whole = (bits & ((2U << k) - 1)) != 0 || is_first_of_tile(row);
        shared_.elements[run] = is_whole ? value : combine_(before, value);
      }
    }
  }

  __device__ static bool is_first_of_tile(unsigned row)
  {
    return row == 0 && threadIdx.x == 0;
  }

  /// The fold of the elements of the tile before the lane's elements of a row, from the last head
  /// on.
  __device__ __forceinline__ Element before_of(unsigned row) const
  {
    if (heads_.before(row) != 0 || warp_index() == 0) return before_[row];
    auto const& before_warp = before_warp_.value;
    return row == 0 && lane_index() == 0 ? before_warp : combine_(before_warp, before_[row]);
  }

  /// A bit for each of the lane's elements of a row: whether it is the last one of its run.
  __device__ __forceinline__ unsigned ends_of(unsigned row) const
  {
    auto const next = __shfl_down_sync(k_all_lanes, heads_.bits(row) & 1U, 1);
    unsigned const ends_run = heads_.ends_run() ? 1 : 0;
    auto const of_next_row =
        row + 1 == k_rows ? ends_run : __shfl_sync(k_all_lanes, heads_.bits(row + 1) & 1U, 0);
    auto const next_head = lane_index() == k_lanes - 1 ? of_next_row : next;
    auto const ends = heads_.bits(row) >> 1U | next_head << (k_width - 1);
    if (heads::index_of(row) >= rest_) return 0;
    auto const last = rest_ - 1 - heads::index_of(row);  // element of the array
    return last < k_width ? (ends & ((1U << last) - 1)) | 1U << last : ends;
  }

  /// Copies the folds and keys from shared memory.
  __device__ __forceinline__ void copy_runs(Element* out, fold const& before)
  {
    auto const runs = static_cast<unsigned>(sum_.runs);
    auto const is_open = runs == 0 || shared_.heads.places[0] != 0;
    auto const first = is_open ? 0U : 1U;
    auto const end = runs + (shared_.ends_run ? 1 : 0);
    if (is_open && end > 0 && threadIdx.x == 0)
      shared_.elements[0] = combine_(before.value, shared_.elements[0]);
    __syncthreads();
    copy_elements<Settings::threads>(out + before.runs + first - 1, shared_.elements + first,
                                     end - first);
    for (auto k = threadIdx.x; k < runs; k += Settings::threads)
      keys_.copy(before.runs + k, begin_ + shared_.heads.places[k]);
  }

  storage& shared_;
  key_hooks keys_;
  slot<fold>* slots_;
  Combine combine_;
  unsigned tile_;
  std::size_t begin_;
  std::size_t rest_;  // elements from begin_ on
  rows<Element, k_rows> items_;
  heads heads_;
  Element before_[k_rows];  // of the warp, before each vector; the first one of lane 0 is not set
  fold before_warp_;
  fold sum_;
};

}  // namespace fatlink_algorithms
