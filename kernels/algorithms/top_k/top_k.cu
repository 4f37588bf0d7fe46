// SPDX-License-Identifier: Apache-2.0
// The library top_k_N: `out` contains the k elements of `in` with the smallest keys, in the order
// of the keys; elements with equal keys keep their order. `out_indexes` contains their indexes in
// `in`.
//
// If `in` has one tile, top_k_tile sorts it. Otherwise the launches are:
// - top_k_start: clears counts, and finds a limit of the keys from a sample (sample_limit.cuh)
// - top_k_select, step 0: selects the elements up to the limit (select_digit.cuh)
// - top_k_count: counts the first digits, unless step 0 has done it (count_first_digits.cuh)
// - top_k_select, for each digit: selects elements
// - top_k_tile sorts the selected elements; if k is more than a tile, the kernels of
//   radix_kernels.cuh do.
// If all elements have been selected before the last digit, the other launches of top_k_select do
// nothing.
#define FATLINK_SHORT_TILES
#define FATLINK_VALUE_BYTES 8  // of the indexes
#include "../key.cuh"
#include "../radix_sort/radix_kernels.cuh"
#include "count_first_digits.cuh"
#include "sample_limit.cuh"
#include "select_digit.cuh"

using first_counter = first_digit_counter<fatlink_element, key_hook, k_first_threads, k_first_rows>;
using sampler = limit_sampler<fatlink_element, key_hook, k_sample_threads, k_sample_items>;
using selector = digit_selector<fatlink_element, value_type, key_hook, k_step_threads, k_step_rows>;

/// The indexes of the elements that top_k_tile sorts.
struct index_source {
  value_type const* indexes;  // null: the elements are the whole input

  __device__ __forceinline__ value_type operator[](unsigned place) const
  {
    return indexes == nullptr ? value_of<value_type>(place) : indexes[place];
  }
};

/// `sample`: elements to sample, or 0. `counts` and `words` are used only if radix_pass follows;
/// `word_count` is 0 otherwise.
extern "C" __global__ void __launch_bounds__(k_sample_threads)
    top_k_start(fatlink_element const* in, selection* all, std::size_t size, radix_counts* counts,
                unsigned* words, std::size_t word_count, std::size_t n, std::size_t k,
                unsigned sample, unsigned digits, unsigned bits, void const* state)
{
  start_next_launch();
  wait_for_last_launch();
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const threads = std::size_t{gridDim.x} * blockDim.x;
  auto* const cleared = reinterpret_cast<unsigned long long*>(all);
  for (auto i = k_head_words + thread; i < size; i += threads) cleared[i] = 0;
  if (word_count != 0) clear_radix_words(counts, words, word_count);
  if (blockIdx.x != 0) return;
  if (threadIdx.x == 0) all->size = 0;
  auto& choice = all->steps[0].choice;
  if (!k_has_sample || sample == 0) {
    if (threadIdx.x == 0) choice.start.size = 0;
    return;
  }
  __shared__ sampler::storage shared;
  aligned_key<key_hook> const key(key_hook{state}, bits);
  sampler(shared, in, sample, {n, k, 0, digits}, key).choose(choice);
}

extern "C" __global__ void __launch_bounds__(k_first_threads)
    top_k_count(fatlink_element const* in, selection* all, std::size_t n, std::size_t k,
                std::size_t capacity, unsigned digits, unsigned bits, void const* state)
{
  wait_for_last_launch();
  __shared__ first_counter::storage shared;
  aligned_key<key_hook> const key(key_hook{state}, bits);
  first_counter(shared, in, *all, {n, k, capacity, digits}, key).count();
}

extern "C" __global__ void __launch_bounds__(k_step_threads, k_step_blocks)
    top_k_select(fatlink_element const* in, fatlink_element* selected, value_type* selected_indexes,
                 fatlink_element* first, value_type* first_indexes, fatlink_element* second,
                 value_type* second_indexes, selection* all, std::size_t n, std::size_t k,
                 std::size_t capacity, unsigned digits, unsigned step, unsigned bits,
                 void const* state)
{
  wait_for_last_launch();
  __shared__ selector::storage shared;
  selection_arrays<fatlink_element, value_type> const arrays{
      in, {selected, selected_indexes}, {first, first_indexes}, {second, second_indexes}};
  aligned_key<key_hook> const key(key_hook{state}, bits);
  selector(shared, arrays, *all, step, {n, k, capacity, digits}, key).select();
}

/// `all`: the selection, or null if `in` is the input.
extern "C" __global__ void __launch_bounds__(k_shape.threads)
    top_k_tile(fatlink_element const* in, value_type const* in_indexes, fatlink_element* out,
               value_type* out_indexes, selection const* all, std::size_t n, std::size_t k,
               unsigned is_selected, unsigned passes, void const* state)
{
  __shared__ union {
    tile<k_few_items>::storage few;
    tile<k_shape.items>::storage many;
  } shared;
  wait_for_last_launch();
  struct {
    fatlink_element const* keys;
    index_source values;
  } const from{in, {is_selected != 0 ? in_indexes : nullptr}};
  arrays_out const to{out, out_indexes};
  auto const size = is_selected != 0 ? all->size : n;
  auto const count = static_cast<unsigned>(k);
  if (size <= k_few_items * k_shape.threads)
    tile<k_few_items>(shared.few, size).sort_first(from, to, count, passes, key_hook{state});
  else
    tile<k_shape.items>(shared.many, size).sort_first(from, to, count, passes, key_hook{state});
}
