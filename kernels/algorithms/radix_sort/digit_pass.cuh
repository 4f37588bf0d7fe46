// SPDX-License-Identifier: Apache-2.0
// A pass of a radix sort: a stable sort by one digit that reads the array once (Adinets and
// Merrill, "Onesweep", 2022). A block ranks its tile. For each digit, a thread waits for the
// number of elements with this digit in the tiles before it (decoupled look-back).
#pragma once

#include "../detail/look_back.cuh"
#include "rank_tile.cuh"

namespace fatlink_algorithms {

/// The word in which a tile publishes a number of elements with one digit; 0: not yet published.
template <typename Word>
struct digit_word {
  static constexpr unsigned bits = 8 * sizeof(Word);
  static constexpr auto is_sum = Word{1} << (bits - 2);     // elements of the tile
  static constexpr auto is_prefix = Word{1} << (bits - 1);  // of all tiles up to it
  static constexpr auto count = is_sum - 1;
};
/// Words have 32 bits for fewer elements than this, otherwise 64. The plan has the same number.
constexpr std::size_t k_wide_size = digit_word<unsigned>::is_sum;

template <typename Element, typename Value, typename Key, unsigned Threads, unsigned Items>
class digit_pass {
  using ranker = tile_ranker<Threads, Items>;
  static constexpr unsigned k_read_ahead = 4;  // preceding tiles whose words are read at once
  static constexpr bool k_has_values = !is_no_value<Value>;

 public:
  static constexpr unsigned tile_size = ranker::tile_size;

  struct storage {
    union {
      typename ranker::storage ranks;
      alignas(16) Element elements[tile_size];
      alignas(16) Value values[tile_size];
    };
    std::size_t starts[k_digits];  // in the result, minus the place in the tile
    unsigned tile;
  };

  /// `words`: one for each tile and digit, initially zero. `next_words`: those of the next pass,
  /// which this pass sets to zero; null in the last pass.
  __device__ digit_pass(storage& shared, key_array<Element const, Value const> in,
                        key_array<Element, Value> out, std::size_t n, unsigned pass,
                        radix_counts& counts, void* words, void* next_words, Key key)
      : shared_(shared),
        in_(in),
        out_(out),
        n_(n),
        pass_(pass),
        starts_(counts.starts[pass]),
        words_(words),
        next_words_(next_words),
        key_(key),
        tile_(take_tile(&counts.tickets[pass], shared.tile)),
        begin_(std::size_t{tile_} * tile_size),
        ranker_(shared.ranks,
                n - begin_ < tile_size ? static_cast<unsigned>(n - begin_) : tile_size)
  {
  }

  /// Moves the elements of the block's tile, if it has any.
  __device__ __forceinline__ void sort()
  {
    if (begin_ >= n_) return;
    Element items[Items];
    unsigned places[Items];  // digits until they are ranked
    ranker_.load(items, in_.keys + begin_);
    ranker_.find_digits(items, key_, pass_, places);
    auto const sum = ranker_.count(places);
    publish(sum);
    auto const is_single = ranker_.is_full() && sum == tile_size;
    if (__syncthreads_or(static_cast<int>(is_single)) != 0)
      move_together(items, sum, places[0]);
    else
      move(items, sum, places);
  }

 private:
  __device__ __forceinline__ bool has_wide_words() const { return n_ >= k_wide_size; }

  template <typename Word>
  __device__ __forceinline__ Word* word_of(void* words, unsigned tile) const
  {
    return static_cast<Word*>(words) + std::size_t{tile} * k_digits + threadIdx.x;
  }

  __device__ __forceinline__ void publish(unsigned sum)
  {
    if (!ranker::has_digit()) return;
    if (has_wide_words())
      publish_as<unsigned long long>(sum);
    else
      publish_as<unsigned>(sum);
  }

  template <typename Word>
  __device__ __forceinline__ void publish_as(unsigned sum)
  {
    using word = digit_word<Word>;
    store_relaxed(word_of<Word>(words_, tile_),
                  (tile_ == 0 ? word::is_prefix : word::is_sum) | sum);
    if (next_words_ != nullptr) *word_of<Word>(next_words_, tile_) = 0;
  }

  /// For a complete tile whose elements all have the same digit.
  __device__ __forceinline__ void move_together(Element const (&items)[Items], unsigned sum,
                                                unsigned digit)
  {
    find_start(sum, threadIdx.x > digit ? tile_size : 0);
    __syncthreads();
    auto const start = shared_.starts[digit];
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) out_.keys[start + ranker::index_of(i)] = items[i];
    if constexpr (k_has_values) {
      Value values[Items];
      ranker_.load(values, in_.values + begin_);
#pragma unroll
      for (unsigned i = 0; i < Items; ++i) out_.values[start + ranker::index_of(i)] = values[i];
    }
  }

  __device__ __forceinline__ void move(Element const (&items)[Items], unsigned sum,
                                       unsigned (&places)[Items])
  {
    auto const before = ranker_.count_before(sum);
    ranker_.rank(places);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) shared_.elements[places[i]] = items[i];
    find_start(sum, before);
    __syncthreads();
    write(places);
  }

  /// Finds where the elements with the thread's digit go. `sum`: how many of them the tile has;
  /// `before`: how many elements of the tile have smaller digits.
  __device__ __forceinline__ void find_start(unsigned sum, unsigned before)
  {
    if (!ranker::has_digit()) return;
    std::size_t const prefix =
        has_wide_words() ? prefix_of_tile<unsigned long long>(sum) : prefix_of_tile<unsigned>(sum);
    shared_.starts[threadIdx.x] = starts_[threadIdx.x] + prefix - before;
  }

  /// Returns how many elements of the tiles before this one have the thread's digit. Publishes this
  /// number plus `sum`, the number in this tile.
  template <typename Word>
  __device__ __forceinline__ Word prefix_of_tile(unsigned sum) const
  {
    if (tile_ == 0) return 0;
    auto const prefix = look_back<Word>();
    store_relaxed(word_of<Word>(words_, tile_), digit_word<Word>::is_prefix | (prefix + sum));
    return prefix;
  }

  template <typename Word>
  __device__ __forceinline__ Word look_back() const
  {
    using word = digit_word<Word>;
    Word prefix = 0;
    auto end = tile_;  // the tiles from here on are in the prefix
    while (true) {
      Word words[k_read_ahead];
#pragma unroll
      for (unsigned i = 0; i < k_read_ahead; ++i)
        words[i] = i < end ? load_relaxed(word_of<Word>(words_, end - 1 - i)) : word::is_prefix;
#pragma unroll
      for (unsigned i = 0; i < k_read_ahead; ++i) {
        if (words[i] == 0) break;  // not yet published
        prefix += words[i] & word::count;
        if ((words[i] & word::is_prefix) != 0) return prefix;
        --end;
      }
    }
  }

  /// Copies the tile from shared memory: neighbors with the same digit stay neighbors.
  __device__ __forceinline__ void write(unsigned const (&places)[Items])
  {
    unsigned digits[Items];
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      auto const place = i * Threads + threadIdx.x;
      auto const element = shared_.elements[place];
      digits[i] = digit_of(key_(element), pass_);
      if (place < ranker_.size()) out_.keys[shared_.starts[digits[i]] + place] = element;
    }
    if constexpr (k_has_values) write_values(places, digits);
  }

  __device__ __forceinline__ void write_values(unsigned const (&places)[Items],
                                               unsigned const (&digits)[Items])
  {
    Value values[Items];
    ranker_.load(values, in_.values + begin_);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) shared_.values[places[i]] = values[i];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      auto const place = i * Threads + threadIdx.x;
      if (place < ranker_.size())
        out_.values[shared_.starts[digits[i]] + place] = shared_.values[place];
    }
  }

  storage& shared_;
  key_array<Element const, Value const> in_;
  key_array<Element, Value> out_;
  std::size_t n_;
  unsigned pass_;
  unsigned long long const* starts_;
  void* words_;
  void* next_words_;
  Key key_;
  unsigned tile_;
  std::size_t begin_;
  ranker ranker_;
};

}  // namespace fatlink_algorithms
