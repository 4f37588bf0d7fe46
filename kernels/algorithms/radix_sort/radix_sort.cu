// SPDX-License-Identifier: Apache-2.0
// The libraries radix_sort_N, radix_sort_pairs_N and radix_sort_pairs_wide_N: `out` is `in` in the
// order of the keys; elements with equal keys keep their order. In the libraries for pairs, a value
// of FATLINK_VALUE_BYTES bytes moves with each element.
// An array of one tile is sorted by radix_tile. Other arrays are sorted by radix_clear and the
// kernels of radix_kernels.cuh.
#include "../key.cuh"
#include "radix_kernels.cuh"

extern "C" __global__ void radix_clear(radix_counts* counts, unsigned* words, std::size_t size)
{
  start_next_launch();
  wait_for_last_launch();
  clear_radix_words(counts, words, size);
}

extern "C" __global__ void __launch_bounds__(k_shape.threads)
    radix_tile(fatlink_element const* in, value_type const* in_values, fatlink_element* out,
               value_type* out_values, std::size_t n, unsigned long long const* limit,
               unsigned passes, void const* state)
{
  constexpr unsigned k_few = 3;
  __shared__ union {
    tile<k_few>::storage few;
    tile<k_shape.items>::storage many;
  } shared;
  wait_for_last_launch();
  arrays_in const from{in, in_values};
  arrays_out const to{out, out_values};
  auto const count = limited(n, limit);
  if (count <= k_few * k_shape.threads)
    tile<k_few>(shared.few, count).sort(from, to, passes, key_hook{state});
  else
    tile<k_shape.items>(shared.many, count).sort(from, to, passes, key_hook{state});
}
