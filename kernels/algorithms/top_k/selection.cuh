// SPDX-License-Identifier: Apache-2.0
// What the kernels of top_k_N share: digits, and the steps of a selection.
//
// Step 0 exists if a sample of the array shows which keys are certainly larger than the k-th
// smallest key, except with bad luck (sample_limit.cuh): it copies the elements with other keys,
// which then take the place of the array.
//
// Digit 0 consists of the k_select_bits most significant bits of a key. Step d + 1 finds the digit
// d of the k-th smallest key: the candidates of the step are the elements whose digits 0 to d - 1
// are those of that key. Candidates with a smaller digit d belong to the result. Those with the
// same digit are the candidates of step d + 2.
#pragma once

#include <cstddef>

#include "../detail/look_back.cuh"
#include "top_k_settings.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_select_digits = 1U << k_select_bits;
/// Digits of the longest key.
constexpr unsigned k_most_steps = (64 + k_select_bits - 1) / k_select_bits;

/// Where the candidates of a step are.
enum class candidates : unsigned {
  in_array,   // in the input, among other elements
  in_first,   // in the first buffer, in the order of the input
  in_second,  // in the second buffer, in the order of the input
  in_result   // they belong to the result
};

/// What a step begins with.
struct step_start {
  unsigned long long size;   // of the array that contains the candidates; 0: nothing to do
  unsigned long long base;   // the smallest key that a candidate can have
  unsigned long long below;  // elements that earlier steps added to the result
  candidates from;
};

/// What is known after the digits of the candidates have been counted. "same" are the candidates
/// with the digit of the k-th smallest key, "smaller" those with a smaller digit. In step 0 all
/// candidates up to the limit are the same, and their number is not known.
struct step_choice {
  step_start start;
  candidates to;               // where the same go; start.from: they stay there
  unsigned long long first;    // the smallest key of the same
  unsigned long long last;     // the largest one, minus `first`
  unsigned long long smaller;  // how many
  unsigned long long same;     // how many
  unsigned long long copied;   // how many of the same are copied: the first ones
};

/// In global memory, zero before a selection.
struct selection_step {
  step_choice choice;
  unsigned ticket;                             // tiles that have started
  unsigned finished;                           // blocks that have counted
  unsigned long long counts[k_select_digits];  // of the candidates, by their digit of this step
};

constexpr std::size_t k_step_words = 2059;  // stated by the plan
static_assert(sizeof(selection_step) == k_step_words * sizeof(unsigned long long));

/// In global memory, zero before a selection. The slots of the look-back follow the steps.
struct selection {
  unsigned long long size;  // of the result: at least k, at most the capacity
  selection_step steps[1];  // step 0, and one for each digit

  /// The slots of a step, for an array of `tiles` tiles.
  __device__ slot<tile_count>* slots_of(unsigned step, unsigned digits, unsigned tiles)
  {
    return reinterpret_cast<slot<tile_count>*>(steps + digits + 1) + step * slot_count(tiles);
  }
};

/// The block that samples the array sets the first words of a selection: the size, and the choice
/// of step 0.
constexpr std::size_t k_head_words =
    (sizeof(unsigned long long) + sizeof(step_choice)) / sizeof(unsigned long long);

/// The sizes of a selection.
struct selection_sizes {
  std::size_t n;
  std::size_t k;
  std::size_t capacity;  // of the result, at least k
  unsigned digits;       // of a key
};

/// Where the digits are in an aligned key: its most significant bit is that of the word.
struct digit_layout {
  static constexpr unsigned word_bits = 8 * sizeof(key_word);

  __device__ __forceinline__ static unsigned shift_of(unsigned digit)
  {
    auto const bits = (digit + 1) * k_select_bits;
    return bits < word_bits ? word_bits - bits : 0;
  }
  /// Bits of a digit; the last digit can be shorter.
  __device__ __forceinline__ static unsigned bits_of(unsigned digit)
  {
    return digit == 0 ? k_select_bits : shift_of(digit - 1) - shift_of(digit);
  }
  __device__ __forceinline__ static unsigned value_of(key_word word, unsigned digit)
  {
    return static_cast<unsigned>(word >> shift_of(digit)) & ((1U << bits_of(digit)) - 1);
  }
};

/// The aligned key of an element.
template <typename Key>
class aligned_key {
 public:
  /// `bits`: how many of the least significant bits of a key count.
  __device__ aligned_key(Key key, unsigned bits)
      : key_(key), unused_(digit_layout::word_bits - bits)
  {
  }

  template <typename Element>
  __device__ __forceinline__ key_word operator()(Element const& element) const
  {
    return static_cast<key_word>(key_(element)) << unused_;
  }

 private:
  Key key_;
  unsigned unused_;
};

}  // namespace fatlink_algorithms
