// SPDX-License-Identifier: Apache-2.0
// A step of a selection, after the digit of the k-th smallest key is known, or for step 0 a limit.
// Adds the candidates with a smaller digit to the result, and copies those with the same digit to a
// buffer or to the result, both in the order of the array. Counts the next digit of the latter.
//
// Each block handles tiles until none is left. For each tile, it lists the elements to write in
// shared memory, and waits for the numbers of both kinds of elements in the tiles before it
// (look_back.cuh), unless it has nothing to write. It reads the listed elements again to write
// them: usually they are few.
#pragma once

#include "../detail/key_array.cuh"
#include "../detail/rows.cuh"
#include "choose_digit.cuh"

namespace fatlink_algorithms {

/// Two numbers of elements of a tile of at most 2^15 elements.
struct digit_counts {
  unsigned word;  // those with a smaller digit in the upper half, those with the same in the lower

  __device__ unsigned smaller() const { return word >> 16U; }
  __device__ unsigned same() const { return word & 0xFFFFU; }
  /// For the look-back: 29 bits and 34 bits.
  __device__ tile_count widen() const
  {
    return {static_cast<unsigned long long>(smaller()) << k_same_bits | same()};
  }
  static constexpr unsigned k_same_bits = 34;
  static constexpr unsigned one_smaller = 1U << 16U;
};

/// The arrays of a selection. Values are indexes of the input; `in` has none.
template <typename Element, typename Value>
struct selection_arrays {
  Element const* in;
  key_array<Element, Value> result;
  key_array<Element, Value> first;
  key_array<Element, Value> second;
};

template <typename Value>
__device__ __forceinline__ Value value_of(std::size_t index)
{
  Value value = {};
  if constexpr (!is_no_value<Value>) {
    static_assert(sizeof(Value) == sizeof(index), "values are indexes of 8 bytes");
    memcpy(&value, &index, sizeof(value));
  }
  return value;
}

template <typename Element, typename Value, typename Key, unsigned Threads, unsigned Rows>
class digit_selector {
  using chooser = digit_chooser<Threads>;
  using back = look_back<tile_count, add_counts>;
  static constexpr unsigned k_warps = Threads / k_lanes;
  static constexpr unsigned k_width = k_vector<Element>;
  static constexpr unsigned k_tile = tile_elements<Element, Rows>(Threads);
  static constexpr unsigned k_vector_mask = (1U << k_width) - 1;
  static_assert(k_warps >= 2 && k_warps <= k_lanes, "two warps look back");
  static_assert(k_tile <= 1U << 15U, "counts of a tile have 16 bits");

 public:
  struct storage {
    typename chooser::storage chooser;
    step_choice choice;
    tile_prefix<tile_count> before;
    unsigned warp_counts[k_warps];
    unsigned tile;
    unsigned short list[k_tile];  // places in the tile: of the smaller ones, then of the same
  };

  __device__ digit_selector(storage& shared, selection_arrays<Element, Value> const& arrays,
                            selection& all, unsigned step, selection_sizes const& sizes,
                            aligned_key<Key> key)
      : shared_(shared),
        arrays_(arrays),
        all_(all),
        step_(step),
        choice_(shared.choice),
        tiles_(tiles_of(all.steps[step].choice.start.size)),
        slots_(all.slots_of(step, sizes.digits, tiles_of(sizes.n))),
        chooser_(shared.chooser, all, step, sizes),
        key_(key)
  {
  }

  /// Called by all threads of a grid of any size; of at least two blocks if there are two tiles.
  __device__ __forceinline__ void select()
  {
    if (tiles_ == 0) return;
    if (threadIdx.x == 0) shared_.choice = all_.steps[step_].choice;
    chooser_.clear();
    __syncthreads();
    base_ = static_cast<key_word>(choice_.start.base);
    smaller_ = static_cast<key_word>(choice_.first) - base_;
    last_ = static_cast<key_word>(choice_.last);
    is_counted_ = !is_last();
    while (take_next_tile()) select_tile();
    if (!is_last()) chooser_.finish(next_start());
  }

 private:
  __device__ static unsigned tiles_of(std::size_t size)
  {
    return static_cast<unsigned>((size + k_tile - 1) / k_tile);
  }
  __device__ bool is_last() const { return choice_.to == candidates::in_result; }
  __device__ bool is_copied() const { return choice_.to != choice_.start.from; }

  /// The array that contains the candidates.
  __device__ __forceinline__ Element const* source() const
  {
    return choice_.start.from == candidates::in_array   ? arrays_.in
           : choice_.start.from == candidates::in_first ? arrays_.first.keys
                                                        : arrays_.second.keys;
  }
  /// The array that gets candidates with the same digit.
  __device__ __forceinline__ key_array<Element, Value> target() const
  {
    auto* const keys = is_last()                            ? arrays_.result.keys
                       : choice_.to == candidates::in_first ? arrays_.first.keys
                                                            : arrays_.second.keys;
    auto* const values = is_last()                            ? arrays_.result.values
                         : choice_.to == candidates::in_first ? arrays_.first.values
                                                              : arrays_.second.values;
    return {keys, values};
  }
  __device__ __forceinline__ Value source_value(std::size_t index) const
  {
    if (choice_.start.from == candidates::in_array) return value_of<Value>(index);
    return choice_.start.from == candidates::in_first ? arrays_.first.values[index]
                                                      : arrays_.second.values[index];
  }

  __device__ __forceinline__ step_start next_start() const
  {
    auto const size = is_copied() ? choice_.same : choice_.start.size;
    return {size, choice_.first, choice_.start.below + choice_.smaller, choice_.to};
  }

  __device__ __forceinline__ bool take_next_tile()
  {
    __syncthreads();
    if (threadIdx.x == 0) shared_.tile = atomicAdd(&all_.steps[step_].ticket, 1U);
    __syncthreads();
    tile_ = shared_.tile;
    return tile_ < tiles_;
  }

  __device__ __forceinline__ void select_tile()
  {
    auto const begin = std::size_t{tile_} * k_tile;
    auto const rest = choice_.start.size - begin;
    size_ = rest < k_tile ? static_cast<unsigned>(rest) : k_tile;
    rows<Element, Rows> items;
    load_tile(items, source() + begin, rest, k_tile);
    rank(items);
    __syncthreads();
    auto const before_warp = count_warps();
    back from(slots_, tiles_, tile_, add_counts());
    if (threadIdx.x == 0) from.publish_tile(of_tile_.widen());
    auto const writes = of_tile_.smaller() != 0 || (is_copied() && of_tile_.same() != 0);
    if (!writes && !from.is_last_of_group()) return;
    if (writes) list_elements(before_warp);
    from.find_prefix(of_tile_.widen(), shared_.before);
    __syncthreads();
    auto const before = shared_.before.before_group.value + shared_.before.before_in_group.value;
    if (threadIdx.x == 0 && from.is_last_of_group() && !from.is_in_first_group())
      from.publish_prefix_of_next_group({before + of_tile_.widen().value});
    if (writes) write(begin, before);
  }

  // To save registers, the bits of both kinds of each row are packed.
  __device__ __forceinline__ void set_bits(unsigned row, unsigned bits)
  {
    auto const first = row * 2 * k_width;
    bits_[first / 32] = (first % 32 == 0 ? 0 : bits_[first / 32]) | bits << first % 32;
  }
  /// A bit for each element of the row's vector.
  __device__ __forceinline__ unsigned smaller_bits(unsigned row) const
  {
    return bits_[row * 2 * k_width / 32] >> row * 2 * k_width % 32 & k_vector_mask;
  }
  __device__ __forceinline__ unsigned same_bits(unsigned row) const
  {
    return bits_[row * 2 * k_width / 32] >> (row * 2 + 1) * k_width % 32 & k_vector_mask;
  }

  /// Sets the bits of the rows and their ranks within the warp. Counts next digits.
  __device__ __forceinline__ void rank(rows<Element, Rows> const& items)
  {
    unsigned before = 0;
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      set_bits(row, compare(items.vectors[row], index_in_tile<Element, Rows>(row)));
      auto const own = digit_counts::one_smaller * __popc(static_cast<int>(smaller_bits(row))) +
                       __popc(static_cast<int>(same_bits(row)));
      ranks_[row] = before;
      if (__any_sync(k_all_lanes, static_cast<int>(own != 0)) == 0) continue;
      auto const all = scan_lanes(own, [](unsigned a, unsigned b) { return a + b; });
      ranks_[row] += all - own;
      before += from_lane(all, k_lanes - 1);
    }
    if (lane_index() == 0) shared_.warp_counts[warp_index()] = before;
  }

  /// Returns the bits of a vector; its first element is element `first` of the tile.
  __device__ __forceinline__ unsigned compare(Element const (&vector)[k_width], unsigned first)
  {
    key_word words[k_width];
    unsigned smaller = 0;
    unsigned same = 0;
#pragma unroll
    for (unsigned k = 0; k < k_width; ++k) {
      words[k] = key_(vector[k]);
      auto const offset = words[k] - base_;
      smaller |= (offset < smaller_ ? 1U : 0U) << k;
      same |= (offset - smaller_ <= last_ ? 1U : 0U) << k;
    }
    if (first + k_width > size_) {
      auto const in_tile = first < size_ ? (1U << (size_ - first)) - 1 : 0;
      smaller &= in_tile;
      same &= in_tile;
    }
    if (is_counted_ && same != 0)
#pragma unroll
      for (unsigned k = 0; k < k_width; ++k)
        if ((same >> k & 1U) != 0) chooser_.count(words[k]);
    return smaller | same << k_width;
  }

  /// Sets of_tile_. Returns the counts of the warps before this one.
  __device__ __forceinline__ unsigned count_warps()
  {
    auto const lane = lane_index();
    auto const sums = scan_lanes(lane < k_warps ? shared_.warp_counts[lane] : 0,
                                 [](unsigned a, unsigned b) { return a + b; });
    of_tile_.word = from_lane(sums, k_warps - 1);
    auto const before = from_lane(sums, warp_index() == 0 ? 0 : warp_index() - 1);
    return warp_index() == 0 ? 0 : before;
  }

  /// `before_warp`: the counts of the warps before this one.
  __device__ __forceinline__ void list_elements(unsigned before_warp)
  {
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
      auto const first = index_in_tile<Element, Rows>(row);
      digit_counts const before{before_warp + ranks_[row]};
      list_bits(smaller_bits(row), first, before.smaller());
      list_bits(same_bits(row), first, of_tile_.smaller() + before.same());
    }
  }

  __device__ __forceinline__ void list_bits(unsigned bits, unsigned first, unsigned place)
  {
#pragma unroll 1
    for (; bits != 0; bits &= bits - 1)
      shared_.list[place++] =
          static_cast<unsigned short>(first + __ffs(static_cast<int>(bits)) - 1);
  }

  /// Writes the listed elements. `before`: the counts of the tiles before this one.
  __device__ __forceinline__ void write(std::size_t begin, unsigned long long before) const
  {
    auto const below = choice_.start.below;
    copy(arrays_.result, below + (before >> digit_counts::k_same_bits), begin, shared_.list,
         of_tile_.smaller());
    auto const rank = before & ((1ULL << digit_counts::k_same_bits) - 1);
    if (!is_copied() || rank >= choice_.copied) return;
    auto const rest = choice_.copied - rank;
    auto const count = rest < of_tile_.same() ? static_cast<unsigned>(rest) : of_tile_.same();
    copy(target(), rank + (is_last() ? below + choice_.smaller : 0), begin,
         shared_.list + of_tile_.smaller(), count);
  }

  /// Copies `count` elements of the tile at `begin`.
  __device__ __forceinline__ void copy(key_array<Element, Value> const& to,
                                       unsigned long long place, std::size_t begin,
                                       unsigned short const* list, unsigned count) const
  {
    auto const* const from = source();
#pragma unroll 2
    for (auto i = threadIdx.x; i < count; i += Threads) {
      auto const index = begin + list[i];
      to.keys[place + i] = from[index];
      if constexpr (!is_no_value<Value>) to.values[place + i] = source_value(index);
    }
  }

  storage& shared_;
  selection_arrays<Element, Value> arrays_;
  selection& all_;
  unsigned step_;
  step_choice const& choice_;  // in shared memory, to save registers
  unsigned tiles_;
  slot<tile_count>* slots_;
  chooser chooser_;
  aligned_key<Key> key_;
  // In registers. Smaller keys than base_, which are in the result already, and larger ones than
  // those of candidates have large offsets from base_.
  key_word base_ = 0;
  key_word smaller_ = 0;  // offsets of the elements with a smaller digit are below
  key_word last_ = 0;
  bool is_counted_ = false;
  unsigned tile_ = 0;
  unsigned size_ = 0;  // of the tile
  unsigned bits_[(2 * Rows * k_width + 31) / 32];
  unsigned ranks_[Rows];  // digit_counts of the warp before the row's vector
  digit_counts of_tile_{0};
};

}  // namespace fatlink_algorithms
