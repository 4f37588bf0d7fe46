// SPDX-License-Identifier: Apache-2.0
// One pass of a segmented merge sort (see segment_tiles.cuh). A job is what a pass writes of one
// split segment in one tile. A tile has up to two: one of the segment that it begins with, and one
// of the segment that it ends with. As many blocks as fit on the device take candidates for jobs,
// each thread of a block one at a time; then the block does the jobs among them.
//
// The keys of a job lie in shared memory, where each thread finds the order of its part as places
// of 16 bits; the keys are then written in this order.
#pragma once

#include "../detail/key_array.cuh"
#include "../detail/overlap.cuh"
#include "../sort/merge_path.cuh"
#include "segment_tiles.cuh"

namespace fatlink_algorithms {

/// Elements of two consecutive runs, begin to middle - 1 and middle to end - 1, which are merged.
/// Without a second run, they are copied.
struct merge_job {
  std::size_t begin;
  std::size_t middle;
  std::size_t end;
  std::size_t place;  // of the elements that are written
  unsigned size;      // their number, 0 if there is no job
  bool to_other;
};

/// The job of a segment that the pass merges in the segment's tile, if any.
template <typename Tiling>
__device__ __forceinline__ merge_job find_job(split_segment<Tiling> const& segment, unsigned pass)
{
  auto const first = segment.part >> pass >> 1 << pass << 1;
  auto const second = first + (std::size_t{1} << pass);
  merge_job job{};
  if (second > segment.last && !segment.is_last_run_copied(pass)) return job;
  job.begin = segment.place(first);
  job.middle = segment.place(second);
  job.end = segment.place(second + (std::size_t{1} << pass));
  job.place = segment.place(segment.part);
  job.size = static_cast<unsigned>(segment.place(segment.part + 1) - job.place);
  job.to_other = segment.is_written_to_other(pass);
  return job;
}

/// Candidate 2 t is the segment that tile t begins with, candidate 2 t + 1 the one that begins in
/// tile t and continues in the next one.
struct job_candidate {
  std::size_t tile;
  std::size_t boundary;  // the tile that begins with the segment

  __device__ __forceinline__ explicit job_candidate(std::size_t index)
      : tile(index / 2), boundary(tile + index % 2)
  {
  }

  /// Whether the pass merges the segment, perhaps without writing anything of it in the tile.
  template <typename Tiling>
  __device__ __forceinline__ bool is_merged(tile_span const* spans, unsigned pass) const
  {
    tile_span const span = spans[boundary];
    return Tiling::is_split(span, boundary) &&
           (boundary == tile || span.begin >= tile * Tiling::stride) &&
           split_segment<Tiling>(span, tile).last >> pass != 0;
  }
};

/// cuts[t]: elements of the first run among those merged before tile t. A thread for each tile.
template <typename Tiling, typename Key, typename Less>
__device__ __forceinline__ void find_segment_cuts(Key const* out, Key const* other,
                                                  tile_span const* spans, std::size_t* cuts,
                                                  std::size_t tiles, unsigned pass, Less less)
{
  auto const tile = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (tile >= tiles) return;
  job_candidate const candidate(2 * tile);
  if (!candidate.is_merged<Tiling>(spans, pass)) return;
  auto const job = find_job(split_segment<Tiling>(spans[tile], tile), pass);
  if (job.middle == job.end) return;
  auto const* const keys = job.to_other ? out : other;
  cuts[tile] = merge_path(keys + job.begin, job.middle - job.begin, keys + job.middle,
                          job.end - job.middle, job.place - job.begin, less);
}

template <typename Key, typename Less, typename Tiling, unsigned Threads, unsigned Items>
class segment_merger {
  static constexpr unsigned k_size = Threads * Items;
  static constexpr unsigned k_warps = Threads / k_lanes;
  static constexpr int k_row = Threads;  // elements that the threads access together
  static constexpr int k_row_end = k_size;
  static constexpr int k_batch =
      Items <= 5 ? Items : (Items + 1) / 2;  // rows that are loaded at a time
  static_assert(k_size == Tiling::size && k_size < 0x10000, "places in a tile have 16 bits");

 public:
  struct storage {
    alignas(16) Key keys[k_size + 1];  // one more, which is read, and not used
    unsigned short places[k_size];
    merge_job job;
    std::size_t cuts[2];     // elements of the first run before what the job writes, and at its end
    unsigned jobs[k_warps];  // the candidates of each warp that may be jobs
  };

  __device__ __forceinline__ segment_merger(storage& shared, Key* out, Key* other,
                                            tile_span const* spans, std::size_t tiles,
                                            unsigned pass, Less less)
      : shared_(shared),
        out_(out),
        other_(other),
        spans_(spans),
        candidates_(2 * tiles),
        pass_(pass),
        less_(less)
  {
  }

  /// Does the jobs of this block. `cuts` are those of find_segment_cuts, or null: then two warps of
  /// the block find those of each job.
  __device__ __forceinline__ void merge(std::size_t const* cuts)
  {
    auto const step = std::size_t{gridDim.x};
#pragma unroll 1
    for (auto first = std::size_t{blockIdx.x}; first < candidates_; first += step * Threads) {
      auto const candidate = first + threadIdx.x * step;
      auto const is_job =
          candidate < candidates_ && job_candidate(candidate).is_merged<Tiling>(spans_, pass_);
      auto const jobs = __ballot_sync(k_all_lanes, is_job);
      if (lane_index() == 0) shared_.jobs[warp_index()] = jobs;
      if (__syncthreads_or(is_job) == 0) continue;
      merge_jobs(first, cuts);
      __syncthreads();
    }
  }

 private:
  /// Does the jobs among the candidates `first`, first + grid size, first + 2 * grid size, …
  __device__ __forceinline__ void merge_jobs(std::size_t first, std::size_t const* cuts)
  {
#pragma unroll 1
    for (unsigned warp = 0; warp < k_warps; ++warp) {
#pragma unroll 1
      for (auto jobs = shared_.jobs[warp]; jobs != 0; jobs &= jobs - 1) {
        auto const index =
            warp * k_lanes + static_cast<unsigned>(__ffs(static_cast<int>(jobs))) - 1;
        merge_candidate(job_candidate(first + index * std::size_t{gridDim.x}), cuts);
        __syncthreads();
      }
    }
  }

  __device__ __forceinline__ void merge_candidate(job_candidate candidate, std::size_t const* cuts)
  {
    if (warp_index() < 2) prepare(candidate, cuts);
    __syncthreads();
    size_ = shared_.job.size;
    if (size_ == 0) return;
    find_sources();
    load();
    __syncthreads();
    find_order();
    __syncthreads();
    store();
  }

  // ---- where the elements are

  /// Finds the job and one of its cuts, by each of two warps.
  __device__ __forceinline__ void prepare(job_candidate candidate, std::size_t const* cuts)
  {
    auto const segment = split_segment<Tiling>(spans_[candidate.boundary], candidate.tile);
    auto const job = find_job(segment, pass_);
    auto const diagonal = job.place - job.begin + warp_index() * job.size;
    std::size_t cut = 0;
    if (diagonal == job.end - job.begin || job.middle == job.end)
      cut = diagonal < job.middle - job.begin ? diagonal : job.middle - job.begin;
    else if (diagonal > 0)
      cut = cuts == nullptr ? find_cut(job, diagonal) : cuts[candidate.tile + warp_index()];
    if (lane_index() > 0) return;
    shared_.cuts[warp_index()] = cut;
    if (warp_index() == 0) shared_.job = job;
  }

  __device__ __forceinline__ std::size_t find_cut(merge_job const& job, std::size_t diagonal) const
  {
    auto const* const keys = input(job);
    return merge_path_by_warp(keys + job.begin, job.middle - job.begin, keys + job.middle,
                              job.end - job.middle, diagonal, less_);
  }

  __device__ __forceinline__ Key* input(merge_job const& job) const
  {
    return job.to_other ? out_ : other_;
  }

  __device__ __forceinline__ void find_sources()
  {
    auto const& job = shared_.job;
    auto const a_begin = shared_.cuts[0];
    auto const a_end = shared_.cuts[1];
    // Between 0 and the size of the job, unless `less` is no order: then nothing else is certain.
    a_size_ = a_end < a_begin           ? 0
              : a_end - a_begin < size_ ? static_cast<unsigned>(a_end - a_begin)
                                        : size_;
    a_place_ = job.begin + a_begin;
    b_place_ = job.middle + (job.place - job.begin - a_begin) - a_size_;
    // An odd number, because then threads read and write different banks of shared memory.
    items_ = (size_ + Threads - 1) / Threads | 1;
  }

  /// Where the element lies in `array` that lies at `k` in shared memory: first those of the first
  /// run, then those of the second one.
  template <typename T>
  __device__ __forceinline__ T const* source(T const* array, unsigned k) const
  {
    return array + (k < a_size_ ? a_place_ : b_place_) + k;
  }

  // ---- the merge

  /// The elements from this thread's first one on, of `size` elements in rows of k_row. The thread
  /// has an element in row r if r * k_row is less. May be negative.
  __device__ __forceinline__ static int left(unsigned size)
  {
    return static_cast<int>(size) - static_cast<int>(threadIdx.x);
  }

  __device__ __forceinline__ void load()
  {
    auto const* const in = input(shared_.job) + threadIdx.x;
    auto const* const a = in + a_place_;
    auto const* const b = in + b_place_;
    auto* const keys = shared_.keys + threadIdx.x;
    auto const size = left(size_);
    auto const a_size = left(a_size_);
    Key last;
    if (threadIdx.x == Threads - 1) last = *source(input(shared_.job), size_ - 1);
#pragma unroll
    for (int first = 0; first < k_row_end; first += k_batch * k_row) {
      Key copies[k_batch];
#pragma unroll
      for (int k = first; k < first + k_batch * k_row && k < k_row_end; k += k_row) {
        if (k >= size) break;
        copies[(k - first) / k_row] = (k < a_size ? a : b)[k];
      }
#pragma unroll
      for (int k = first; k < first + k_batch * k_row && k < k_row_end; k += k_row) {
        if (k >= size) break;
        keys[k] = copies[(k - first) / k_row];
      }
    }
    if (threadIdx.x == Threads - 1) shared_.keys[size_] = last;
  }

  /// The order of this thread's part.
  __device__ __forceinline__ void find_order()
  {
    auto const diagonal = threadIdx.x * items_;
    if (diagonal >= size_) return;
    auto const end = diagonal + items_ < size_ ? diagonal + items_ : size_;
    auto a =
        merge_path(shared_.keys, a_size_, shared_.keys + a_size_, size_ - a_size_, diagonal, less_);
    auto b = a_size_ + diagonal - a;
    Key a_key = shared_.keys[a];
    Key b_key = shared_.keys[b];
#pragma unroll 4
    for (auto k = diagonal; k < end; ++k) {
      auto const is_less = less_(b_key, a_key);
      auto const takes_b = b < size_ && (a >= a_size_ || is_less);
      auto const place = takes_b ? b : a;
      shared_.places[k] = static_cast<unsigned short>(place);
      Key const next = shared_.keys[place + 1];
      a_key = takes_b ? a_key : next;
      b_key = takes_b ? next : b_key;
      a = takes_b ? a : place + 1;
      b = takes_b ? place + 1 : b;
    }
  }

  __device__ __forceinline__ void store() const
  {
    auto const& job = shared_.job;
    auto* const out = job.to_other ? other_ : out_;
    auto* const keys = out + job.place + threadIdx.x;
    auto const* const places = shared_.places + threadIdx.x;
    auto const size = left(size_);
#pragma unroll
    for (int k = 0; k < k_row_end; k += k_row)
      if (k < size) keys[k] = shared_.keys[places[k]];
  }

  storage& shared_;
  Key* out_;
  Key* other_;
  tile_span const* spans_;
  std::size_t candidates_;
  unsigned pass_;
  Less less_;
  // Of a job:
  unsigned size_ = 0;
  unsigned items_ = 0;       // of a thread
  unsigned a_size_ = 0;      // elements that are of the first run
  std::size_t a_place_ = 0;  // an element lies at k + a_place_ or k + b_place_
  std::size_t b_place_ = 0;
};

}  // namespace fatlink_algorithms
