// SPDX-License-Identifier: Apache-2.0
// The kernels that sort an array of several tiles: radix_count, and a launch of radix_pass for each
// digit of the keys, from the least significant digit. `counts` and the words of the first pass are
// zero before (clear_radix_words). The first pass moves the elements from `in` to `out` or `other`,
// the others between these two arrays.
//
// A library includes this header once. If it defines FATLINK_VALUE_BYTES, a value of this size
// moves with each element. If it defines FATLINK_SHORT_TILES, long arrays have the tiles of short
// ones, which saves the code of the others.
#pragma once

#include "../detail/limit.cuh"
#include "radix_settings.cuh"

using namespace fatlink_algorithms;

#ifdef FATLINK_VALUE_BYTES
using value_type = FATLINK_DETAIL_ELEMENT(FATLINK_VALUE_BYTES);
constexpr auto k_shape = radix_shape_of(FATLINK_ELEMENT_BYTES, FATLINK_VALUE_BYTES);
#else
using value_type = no_value;
constexpr auto k_shape = radix_shape_of(FATLINK_ELEMENT_BYTES, 0);
#endif

#ifdef FATLINK_SHORT_TILES
constexpr bool k_has_long_tiles = false;
#else
constexpr bool k_has_long_tiles = true;
#endif

using arrays_in = key_array<fatlink_element const, value_type const>;
using arrays_out = key_array<fatlink_element, value_type>;
template <unsigned Items>
using mover = digit_pass<fatlink_element, value_type, key_hook, k_shape.threads, Items>;
template <unsigned Items>
using tile = one_tile<fatlink_element, value_type, k_shape.threads, Items>;

/// Called by all threads of a grid.
__device__ __forceinline__ void clear_radix_words(radix_counts* counts, unsigned* words,
                                                  std::size_t size)
{
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const threads = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = thread; i < size; i += threads) words[i] = 0;
  for (auto i = thread; i < sizeof(radix_counts) / sizeof(unsigned); i += threads)
    reinterpret_cast<unsigned*>(counts)[i] = 0;
}

extern "C" __global__ void __launch_bounds__(k_count_threads)
    radix_count(fatlink_element const* in, radix_counts* counts, std::size_t n,
                unsigned long long const* limit, unsigned passes, void const* state)
{
  wait_for_last_launch();
  __shared__ digit_counting::storage shared;
  digit_counting(shared, in, limited(n, limit), passes, *counts, key_hook{state}).count();
}

extern "C" __global__ void __launch_bounds__(k_shape.threads, 2)
    radix_pass(fatlink_element const* in, value_type const* in_values, fatlink_element* out,
               value_type* out_values, fatlink_element* other, value_type* other_values,
               radix_counts* counts, void* words, void* other_words, std::size_t n,
               unsigned long long const* limit, unsigned pass, unsigned passes, void const* state)
{
  using short_mover = mover<k_shape.items / 3>;
  using long_mover = mover<k_has_long_tiles ? k_shape.items : k_shape.items / 3>;
  __shared__ union {
    short_mover::storage few;
    long_mover::storage many;
  } shared;
  arrays_out const at_out{out, out_values};
  arrays_out const at_other{other, other_values};
  auto const ends_at_out = (passes - pass) % 2 == 1;
  auto const last = ends_at_out ? at_other : at_out;
  arrays_in const from{pass == 0 ? in : last.keys, pass == 0 ? in_values : last.values};
  auto const to = ends_at_out ? at_out : at_other;
  auto const is_odd = pass % 2 == 1;
  auto* const own_words = is_odd ? other_words : words;
  auto* const free_words = is_odd ? words : other_words;
  auto* const next_words = pass + 1 == passes ? nullptr : free_words;
  key_hook const hook{state};
  auto const count = limited(n, limit);
  if (!k_has_long_tiles || n < k_short_size)
    short_mover(shared.few, from, to, count, pass, *counts, own_words, next_words, hook).sort();
  else
    long_mover(shared.many, from, to, count, pass, *counts, own_words, next_words, hook).sort();
}
