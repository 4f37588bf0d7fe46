// SPDX-License-Identifier: Apache-2.0
// Lists the runs of equal keys, in one pass: each block finds the heads of a tile, and waits for
// the number of heads in the tiles before it (prefix_finder.cuh).
#pragma once

#include "../detail/prefix_finder.cuh"
#include "run_folds.cuh"
#include "run_heads.cuh"

namespace fatlink_algorithms {

/// Arrays with fewer elements have tiles of fewer rows, so that no multiprocessor is idle; the
/// plans repeat the numbers.
constexpr std::size_t k_short_list = std::size_t{1} << 22;

struct add_lengths {
  __device__ unsigned long long operator()(unsigned long long a, unsigned long long b) const
  {
    return a + b;
  }
};

/// Call either write_lengths(), which writes the key and the length of each run, or write_values(),
/// which writes its key and its first value.
template <unsigned Threads, unsigned Rows>
class run_lister {
  static constexpr unsigned k_warps = Threads / k_lanes;
  static constexpr unsigned k_batch = 8;      // heads whose values a thread reads together
  static constexpr unsigned k_many_runs = 8;  // if runs are shorter, all lines of values are read
  using heads = run_heads<Threads, Rows, 4>;
  using fold = run_fold<unsigned long long>;
  using combine_folds = combine_runs<unsigned long long, add_lengths>;
  using length_finder = prefix_finder<fold, combine_folds>;
  using count_finder = prefix_finder<tile_count, add_counts>;

 public:
  static constexpr unsigned tile_size = heads::tile_size;

  struct storage {
    typename heads::storage heads;
    union {
      typename length_finder::storage lengths;
      typename count_finder::storage counts;
    };
    unsigned warp_counts[k_warps];
    unsigned tile;
    bool ends_run;  // whether the last run of the tile ends in it
  };

  __device__ run_lister(storage& shared, key_hooks keys, element_count n, unsigned* ticket)
      : shared_(shared),
        keys_(keys),
        tile_(take_tile(ticket, shared.tile)),
        begin_(std::size_t{tile_} * tile_size),
        rest_(rest_from(begin_, n.get()))
  {
    if (rest_ == 0) return;
    heads heads_of_tile;
    auto const count = heads_of_tile.find(keys, begin_, rest_);
    if (lane_index() == 0) shared_.warp_counts[warp_index()] = count;
    if (threadIdx.x == Threads - 1) shared_.ends_run = heads_of_tile.ends_run();
    __syncthreads();
    heads_of_tile.write_places(shared_.heads, count_warps());
  }

  /// The last tile sets `count` to the number of runs.
  __device__ __forceinline__ void write_lengths(slot<fold>* slots, unsigned long long* lengths,
                                                unsigned long long* count)
  {
    if (rest_ == 0) return clear_count(begin_, count);
    __syncthreads();
    auto const places = shared_.heads.places;
    fold const sum{runs_, size() - (runs_ > 0 ? places[runs_ - 1] : 0U)};
    length_finder finder(shared_.lengths, slots, tile_, sum, combine_folds{});
    finder.publish();
    finder.look_back();
    __syncthreads();
    fold before = {};
    finder.find(before);
    copy_keys(before.runs, count);
    auto const end = runs_ + (shared_.ends_run ? 1 : 0);
    for (auto k = threadIdx.x + begins_run(); k < end; k += Threads) {
      auto const begin = k > 0 ? places[k - 1] : 0U;
      auto const length = (k < runs_ ? places[k] : size()) - begin;
      lengths[before.runs + k - 1] = length + (k > 0 ? 0 : before.value);
    }
  }

  /// The last tile sets `count` to the number of runs.
  template <typename Value>
  __device__ __forceinline__ void write_values(slot<tile_count>* slots, Value const* in, Value* out,
                                               unsigned long long* count)
  {
    if (rest_ == 0) return clear_count(begin_, count);
    count_finder finder(shared_.counts, slots, tile_, {runs_}, add_counts());
    finder.publish();
    if (runs_ > tile_size / k_many_runs) prefetch(in);
    finder.look_back();
    __syncthreads();
    tile_count before = {};
    finder.find(before);
    if (threadIdx.x == 0 && rest_ <= tile_size) *count = before.value + runs_;
#pragma unroll 1
    for (auto k = threadIdx.x; k < runs_; k += k_batch * Threads)
      copy_batch(before.value, k, in, out);
  }

 private:
  __device__ unsigned size() const
  {
    return rest_ < tile_size ? static_cast<unsigned>(rest_) : tile_size;
  }

  /// Loads the values of the tile into the cache. Each thread loads lines of 128 bytes.
  template <typename Value>
  __device__ __forceinline__ void prefetch(Value const* in) const
  {
    constexpr auto k_line = static_cast<unsigned>(128 / sizeof(Value));
    for (auto k = threadIdx.x * k_line; k < size(); k += Threads * k_line)
      asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(in + begin_ + k)));
  }

  /// Copies the keys and values of the heads k, k + Threads, ... of the tile. The values are read
  /// before anything is written, so that their reads are in flight together.
  template <typename Value>
  __device__ __forceinline__ void copy_batch(unsigned long long before, unsigned first,
                                             Value const* in, Value* out) const
  {
    Value values[k_batch];
#pragma unroll
    for (unsigned i = 0; i < k_batch; ++i)
      if (first + i * Threads < runs_)
        values[i] = in[begin_ + shared_.heads.places[first + i * Threads]];
#pragma unroll
    for (unsigned i = 0; i < k_batch; ++i) {
      auto const k = first + i * Threads;
      if (k >= runs_) return;
      keys_.copy(before + k, begin_ + shared_.heads.places[k]);
      out[before + k] = values[i];
    }
  }

  /// Sets runs_, the number of heads in the tile. Returns that in the warps before this one.
  __device__ __forceinline__ unsigned count_warps()
  {
    auto const lane = lane_index();
    auto const sums = scan_lanes(lane < k_warps ? shared_.warp_counts[lane] : 0, add_numbers());
    runs_ = from_lane(sums, k_warps - 1);
    auto const before = from_lane(sums, warp_index() == 0 ? 0 : warp_index() - 1);
    return warp_index() == 0 ? 0 : before;
  }

  /// Whether the first element of the tile is a head: 1 or 0.
  __device__ __forceinline__ unsigned begins_run() const
  {
    return runs_ > 0 && shared_.heads.places[0] == 0 ? 1 : 0;
  }

  /// Copies the keys of the tile's heads; `before`: the number of runs in the tiles before.
  __device__ __forceinline__ void copy_keys(unsigned long long before, unsigned long long* count)
  {
    if (threadIdx.x == 0 && rest_ <= tile_size) *count = before + runs_;
#pragma unroll 4
    for (auto k = threadIdx.x; k < runs_; k += Threads)
      keys_.copy(before + k, begin_ + shared_.heads.places[k]);
  }

  storage& shared_;
  key_hooks keys_;
  unsigned tile_;
  std::size_t begin_;
  std::size_t rest_;  // elements from begin_ on
  unsigned runs_ = 0;
};

}  // namespace fatlink_algorithms
