// SPDX-License-Identifier: Apache-2.0
// The first step of a segmented sort: each block sorts the segments of a tile, and the parts that
// it has of split segments.
//
// Each thread sorts its elements in registers, without moving one over the start of a segment.
// Then each segment that several threads share is merged: the parts of 2, 4, … threads at a time,
// counted from the first thread of the segment. So the number of steps follows from the longest
// segment in the tile. In a step a thread has elements of at most two segments that are merged: of
// the one that began in an earlier thread (`head`), and of the one that continues in the next
// thread
// (`tail`).
#pragma once

#include "../detail/key_array.cuh"
#include "../detail/overlap.cuh"
#include "../sort/merge_path.cuh"
#include "segment_tiles.cuh"

namespace fatlink_algorithms {

template <typename Key, typename Less, typename Tiling, unsigned Threads, unsigned Items>
class segment_sorter {
  static constexpr unsigned k_size = Threads * Items;
  static constexpr unsigned k_warps = Threads / k_lanes;
  static constexpr unsigned k_warp_size = k_lanes * Items;  // elements of a warp
  static_assert(k_size == Tiling::size && k_size < 0x10000 && Items < 32);

 public:
  struct storage {
    union {
      alignas(16) Key keys[k_size + 1];          // one more, which is read, and not used
      alignas(16) unsigned char starts[k_size];  // 1 for the first element of a segment
    };
    unsigned first_starts[k_warps];  // of the elements of each warp
    unsigned last_starts[k_warps];
  };

  __device__ __forceinline__ segment_sorter(storage& shared, Key const* in, Key* out, Key* other,
                                            bool has_other, tile_span const* spans, Less less)
      : shared_(shared),
        in_(in),
        out_(out),
        other_(other),
        has_other_(has_other),
        span_(spans[blockIdx.x]),
        next_(spans[blockIdx.x + 1]),
        place_(Tiling::first_element(span_, blockIdx.x)),
        size_(static_cast<unsigned>(Tiling::first_element(next_, blockIdx.x + std::size_t{1}) -
                                    place_)),
        less_(less)
  {
  }

  /// Sorts the tile of this block.
  __device__ __forceinline__ void sort(std::size_t const* offsets, std::size_t segments)
  {
    if (size_ == 0) return;
    load();
    mark_starts(offsets, segments);
    find_parts();
    start_next_launch();
    distribute();
    sort_in_thread();
    auto is_changed = true;
#pragma unroll 1
    for (unsigned threads = 1; __syncthreads_or(tail_threads_ > threads) != 0; threads *= 2) {
      if (is_changed) share();
      __syncthreads();
      is_changed = merge(threads);
    }
    share();
    __syncwarp();
    find_targets();
    store_keys();
  }

 private:
  __device__ __forceinline__ static unsigned smaller(unsigned a, unsigned b)
  {
    return a < b ? a : b;
  }

  /// Reads the tile by rows of a warp. Elements behind its end become copies of the last one.
  __device__ __forceinline__ void load()
  {
    auto const begin = warp_index() * k_warp_size + lane_index();
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      keys_[item] = in_[place_ + smaller(begin + item * k_lanes, size_ - 1)];
  }

  // ---- starts of segments

  __device__ __forceinline__ void mark_starts(std::size_t const* offsets, std::size_t segments)
  {
    for (auto k = threadIdx.x; k < k_size / sizeof(uint4); k += Threads)
      reinterpret_cast<uint4*>(shared_.starts)[k] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    auto const first = span_.offsets > 0 ? span_.offsets - 1 : 0;
    auto const last = next_.offsets < segments ? next_.offsets : segments;
    // Empty segments may be many more than elements.
    if (last - first <= 4 * k_size)
      mark_offsets(offsets, first, last);
    else
      mark_found(offsets, first, last);
    mark_outside(offsets[0], offsets[segments]);
    __syncthreads();
  }

  /// Marks what offsets `first` to `last` - 1 state, of equal ones the last: the one that is not
  /// empty.
  __device__ __forceinline__ void mark_offsets(std::size_t const* offsets, std::size_t first,
                                               std::size_t last)
  {
#pragma unroll 4
    for (auto k = first + threadIdx.x; k < last; k += Threads) {
      auto const offset = offsets[k];
      if (offset - place_ < size_ && offsets[k + 1] != offset) shared_.starts[offset - place_] = 1;
    }
  }

  /// The same by a search for each element.
  __device__ __forceinline__ void mark_found(std::size_t const* offsets, std::size_t first,
                                             std::size_t last)
  {
#pragma unroll 1
    for (auto k = threadIdx.x; k < size_; k += Threads) {
      auto low = first;
      auto high = last;
      while (low < high) {
        auto const middle = low + (high - low) / 2;
        if (offsets[middle] < place_ + k)
          low = middle + 1;
        else
          high = middle;
      }
      if (low < last && offsets[low] == place_ + k) shared_.starts[k] = 1;
    }
  }

  /// Elements outside of all segments remain in place, as segments of one element do.
  __device__ __forceinline__ void mark_outside(std::size_t first, std::size_t last)
  {
    if (place_ >= first && place_ + size_ <= last) return;
#pragma unroll 1
    for (auto k = threadIdx.x; k < size_; k += Threads)
      if (place_ + k < first || place_ + k >= last) shared_.starts[k] = 1;
  }

  /// Finds which elements of this thread are of the head and the tail, and where these lie.
  __device__ __forceinline__ void find_parts()
  {
    auto const begin = threadIdx.x * Items;
    auto const count = begin < size_ ? smaller(size_ - begin, Items) : 0;
    unsigned starts = 0;
#pragma unroll
    for (unsigned item = 0; item < Items; ++item)
      starts |= static_cast<unsigned>(shared_.starts[begin + item]) << item;
    if (threadIdx.x == 0) starts |= 1;
    links_ = ~starts & ((1U << count) - 1) & ~1U;

    auto const first = static_cast<unsigned>(__ffs(static_cast<int>(starts))) - 1;
    auto const last = 31 - static_cast<unsigned>(__clz(static_cast<int>(starts)));
    auto const before = find_start_before(starts, begin + last);
    auto const next = find_start_after(starts, begin + first);
    head_begin_ = before;
    head_thread_ = before / Items;
    head_size_ = starts == 0 ? count : first;
    head_end_ = starts == 0 ? next : begin + first;
    auto const continues = starts != 0 && next > begin + Items;
    tail_begin_ = continues ? last : Items;
    tail_end_ = next;
    tail_threads_ = continues ? (next - 1) / Items - threadIdx.x + 1 : 0;
  }

  /// The last start before the elements of this thread, and 0 where there is none. `last` is the
  /// last start of this thread, if it has `starts`. All threads call it before find_start_after.
  __device__ __forceinline__ unsigned find_start_before(unsigned starts, unsigned last)
  {
    auto const threads = __ballot_sync(k_all_lanes, starts != 0);
    auto const last_thread = 31 - __clz(static_cast<int>(threads | 1));
    auto const of_warp = __shfl_sync(k_all_lanes, last, last_thread);
    auto const earlier = threads & ((1U << lane_index()) - 1);
    auto const of_lane = __shfl_sync(k_all_lanes, last, 31 - __clz(static_cast<int>(earlier | 1)));
    if (lane_index() == 0) shared_.last_starts[warp_index()] = threads == 0 ? 0 : of_warp;
    __syncthreads();
    if (earlier != 0) return of_lane;
    unsigned found = 0;
#pragma unroll
    for (unsigned warp = 0; warp < k_warps; ++warp)
      if (warp < warp_index() && shared_.last_starts[warp] > found)
        found = shared_.last_starts[warp];
    return found;
  }

  /// The first start behind the elements of this thread, or the end of the tile.
  __device__ __forceinline__ unsigned find_start_after(unsigned starts, unsigned first)
  {
    auto const threads = __ballot_sync(k_all_lanes, starts != 0);
    auto const of_warp = __shfl_sync(k_all_lanes, first, __ffs(static_cast<int>(threads)) - 1);
    auto const later = threads & ~((2U << lane_index()) - 1);
    auto const of_lane = __shfl_sync(k_all_lanes, first, __ffs(static_cast<int>(later)) - 1);
    if (lane_index() == 0) shared_.first_starts[warp_index()] = threads == 0 ? size_ : of_warp;
    __syncthreads();
    if (later != 0) return of_lane;
    auto found = size_;
#pragma unroll
    for (unsigned warp = 0; warp < k_warps; ++warp)
      if (warp > warp_index()) found = smaller(found, shared_.first_starts[warp]);
    return found;
  }

  // ---- elements of the thread

  /// From rows of a warp to consecutive elements of each thread.
  __device__ __forceinline__ void distribute()
  {
    auto* const rows = shared_.keys + warp_index() * k_warp_size;
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) rows[lane_index() + item * k_lanes] = keys_[item];
    if (threadIdx.x == 0) shared_.keys[k_size] = keys_[0];
    __syncwarp();
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      keys_[item] = rows[lane_index() * Items + item];
    }
  }

  /// Odd-even transposition, as many rounds as the longest part of a segment needs.
  __device__ __forceinline__ void sort_in_thread()
  {
    unsigned length = 0;  // of the longest part, less one
    for (auto links = links_; links != 0; links &= links << 1) ++length;
    if (length == 0) return;
#pragma unroll 1
    for (unsigned round = 0; round <= length; round += 2) {
      sort_neighbors(0);
      sort_neighbors(1);
    }
  }

  __device__ __forceinline__ void sort_neighbors(unsigned first)
  {
#pragma unroll
    for (unsigned item = first; item + 1 < Items; item += 2)
      if ((links_ >> (item + 1)) % 2 != 0 && less_(keys_[item + 1], keys_[item])) {
        swap(keys_[item], keys_[item + 1]);
      }
  }

  template <typename T>
  __device__ __forceinline__ static void swap(T& a, T& b)
  {
    auto const c = a;
    a = b;
    b = c;
  }

  /// Writes this thread's elements to its part of the shared memory.
  __device__ __forceinline__ void share()
  {
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      shared_.keys[threadIdx.x * Items + item] = keys_[item];
    }
  }

  // ---- merges

  /// Two sorted parts: from `a` to `a_end`, and from `b` to `b_end`.
  struct parts {
    unsigned a;
    unsigned a_end;
    unsigned b;
    unsigned b_end;
  };

  /// What remains of the two parts that are merged to the head, from this thread's elements on.
  /// Empty parts if there is no head, or no second part: then the elements are in place.
  __device__ __forceinline__ parts find_head(unsigned threads) const
  {
    auto const part = (threadIdx.x - head_thread_) & ~(2 * threads - 1);
    auto const first = (head_thread_ + part) * Items;
    auto const begin = part == 0 ? head_begin_ : first;
    auto const middle = first + threads * Items;
    parts head;
    head.a = head.a_end = head.b = head.b_end = 0;
    if (head_size_ == 0 || middle >= head_end_) return head;
    head.a_end = middle;
    head.b_end = smaller(middle + threads * Items, head_end_);
    auto const diagonal = threadIdx.x * Items - begin;
    auto const a = merge_path(shared_.keys + begin, middle - begin, shared_.keys + middle,
                              head.b_end - middle, diagonal, less_);
    head.a = begin + a;
    head.b = middle + diagonal - a;
    return head;
  }

  /// The two parts that are merged to the tail.
  __device__ __forceinline__ parts find_tail(unsigned threads) const
  {
    auto const middle = (threadIdx.x + threads) * Items;
    return {threadIdx.x * Items + tail_begin_, middle, middle,
            smaller(middle + threads * Items, tail_end_)};
  }

  /// Takes this thread's part of the sorted elements of two groups of `threads` threads. Returns
  /// false if the elements are in place.
  __device__ __forceinline__ bool merge(unsigned threads)
  {
    auto from = find_head(threads);
    auto const head = from.b_end > 0 ? head_size_ : 0;
    auto const tail = (threadIdx.x + threads) * Items < tail_end_ ? tail_begin_ : Items;
    if (head == 0 && tail == Items) return false;
    Key a_key = shared_.keys[from.a];
    Key b_key = shared_.keys[from.b];
#pragma unroll
    for (unsigned item = 0; item < Items; ++item) {
      if (item == tail) {
        from = find_tail(threads);
        a_key = shared_.keys[from.a];
        b_key = shared_.keys[from.b];
      }
      if (item < head || item >= tail) take(from, a_key, b_key, item);
    }
    return true;
  }

  /// Takes the next element of two parts, whose next elements are a_key and b_key.
  __device__ __forceinline__ void take(parts& from, Key& a_key, Key& b_key, unsigned item)
  {
    auto const is_less = less_(b_key, a_key);
    auto const takes_b = from.b < from.b_end && (from.a >= from.a_end || is_less);
    auto const place = takes_b ? from.b : from.a;
    keys_[item] = takes_b ? b_key : a_key;
    Key const next = shared_.keys[place + 1];
    a_key = takes_b ? a_key : next;
    b_key = takes_b ? next : b_key;
    from.a = takes_b ? from.a : place + 1;
    from.b = takes_b ? place + 1 : from.b;
  }

  // ---- results

  /// Where elements of split segments are written, so that their first merge finds them.
  __device__ __forceinline__ void find_targets()
  {
    auto const tile = std::size_t{blockIdx.x};
    first_end_ = 0;
    last_begin_ = size_;
    if (Tiling::is_split(span_, tile)) {
      split_segment<Tiling> const segment(span_, tile);
      first_in_other_ = segment.begins_in_other();
      first_end_ = segment.part < segment.last ? size_ : static_cast<unsigned>(span_.end - place_);
    }
    if (first_end_ < size_ && Tiling::is_split(next_, tile + 1)) {
      split_segment<Tiling> const segment(next_, tile);
      last_in_other_ = segment.begins_in_other();
      last_begin_ = static_cast<unsigned>(next_.begin - place_);
    }
  }

  template <typename T>
  __device__ __forceinline__ T* target(T* out, T* other, unsigned k) const
  {
    auto const is_in_other =
        has_other_ && ((k < first_end_ && first_in_other_) || (k >= last_begin_ && last_in_other_));
    return (is_in_other ? other : out) + place_ + k;
  }

  /// Writes the part of this warp.
  __device__ __forceinline__ void store_keys() const
  {
    auto const begin = warp_index() * k_warp_size + lane_index();
#pragma unroll 4
    for (unsigned item = 0; item < Items; ++item) {
      auto const k = begin + item * k_lanes;
      if (k < size_) *target(out_, other_, k) = shared_.keys[k];
    }
  }

  storage& shared_;
  Key const* in_;
  Key* out_;
  Key* other_;
  bool has_other_;  // without passes, there is no other array
  tile_span span_;  // of the tile
  tile_span next_;  // of the next one
  std::size_t place_;
  unsigned size_;
  Less less_;
  Key keys_[Items];     // of this thread
  unsigned links_ = 0;  // bit k: element k is of the same segment as element k - 1 of the thread
  unsigned head_thread_ = 0;   // in which the head begins
  unsigned head_begin_ = 0;    // in the tile
  unsigned head_end_ = 0;      // in the tile
  unsigned head_size_ = 0;     // the thread's first elements, which are of the head
  unsigned tail_begin_ = 0;    // the thread's first element that is of the tail
  unsigned tail_end_ = 0;      // in the tile
  unsigned tail_threads_ = 0;  // that the tail has elements in
  unsigned first_end_ = 0;     // of the split segment that the tile begins with
  unsigned last_begin_ = 0;    // of the split segment that the tile ends with
  bool first_in_other_ = false;
  bool last_in_other_ = false;
};

}  // namespace fatlink_algorithms
