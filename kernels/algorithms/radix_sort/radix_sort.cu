// SPDX-License-Identifier: Apache-2.0
// The libraries radix_sort_N, radix_sort_pairs_N and radix_sort_pairs_wide_N: out = the elements of
// in by their keys, equal ones as in `in`; of pairs, with values of FATLINK_VALUE_BYTES.
// An array of one tile: radix_tile. Others: radix_clear, radix_count, then a launch of radix_pass
// for each digit of the keys, from the least significant one, from `in` to `out` or `other`, then
// between these two.
#include "../key.cuh"
#include "radix_settings.cuh"

using namespace fatlink_algorithms;

#ifdef FATLINK_VALUE_BYTES
struct alignas(FATLINK_VALUE_BYTES) value_type {
  unsigned char bytes[FATLINK_VALUE_BYTES];
};
constexpr auto k_shape = radix_shape_of(FATLINK_ELEMENT_BYTES, FATLINK_VALUE_BYTES);
#else
using value_type = no_value;
constexpr auto k_shape = radix_shape_of(FATLINK_ELEMENT_BYTES, 0);
#endif

using mover = digit_pass<fatlink_element, value_type, key_hook, k_shape.threads, k_shape.items>;

extern "C" __global__ void radix_clear(radix_counts* counts, unsigned* words, std::size_t size)
{
  start_next_launch();
  wait_for_last_launch();
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const threads = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = thread; i < size; i += threads) words[i] = 0;
  for (auto i = thread; i < sizeof(radix_counts) / sizeof(unsigned); i += threads)
    reinterpret_cast<unsigned*>(counts)[i] = 0;
}

extern "C" __global__ void __launch_bounds__(k_count_threads)
    radix_count(fatlink_element const* in, radix_counts* counts, std::size_t n, unsigned passes,
                void const* state)
{
  wait_for_last_launch();
  __shared__ digit_counting::storage shared;
  digit_counting(shared, in, n, passes, *counts, key_hook{state}).count();
}

extern "C" __global__ void __launch_bounds__(k_shape.threads, 2)
    radix_pass(fatlink_element const* in, value_type const* in_values, fatlink_element* out,
               value_type* out_values, fatlink_element* other, value_type* other_values,
               radix_counts* counts, void* words, void* other_words, std::size_t n, unsigned pass,
               unsigned passes, void const* state)
{
  using arrays = key_array<fatlink_element, value_type>;
  __shared__ mover::storage shared;
  arrays const at_out{out, out_values};
  arrays const at_other{other, other_values};
  auto const ends_at_out = (passes - pass) % 2 == 1;
  auto const from = ends_at_out ? at_other : at_out;
  auto const is_odd = pass % 2 == 1;
  auto* const next_words = is_odd ? words : other_words;
  mover(shared, {pass == 0 ? in : from.keys, pass == 0 ? in_values : from.values},
        ends_at_out ? at_out : at_other, n, pass, *counts, is_odd ? other_words : words,
        pass + 1 == passes ? nullptr : next_words, key_hook{state})
      .sort();
}

extern "C" __global__ void __launch_bounds__(k_shape.threads)
    radix_tile(fatlink_element const* in, value_type const* in_values, fatlink_element* out,
               value_type* out_values, std::size_t n, unsigned passes, void const* state)
{
  constexpr unsigned k_few = 3;
  using small = one_tile<fatlink_element, value_type, k_shape.threads, k_few>;
  using large = one_tile<fatlink_element, value_type, k_shape.threads, k_shape.items>;
  __shared__ union {
    small::storage few;
    large::storage many;
  } shared;
  wait_for_last_launch();
  if (n <= k_few * k_shape.threads)
    small(shared.few, n).sort({in, in_values}, {out, out_values}, passes, key_hook{state});
  else
    large(shared.many, n).sort({in, in_values}, {out, out_values}, passes, key_hook{state});
}
