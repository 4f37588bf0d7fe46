// SPDX-License-Identifier: Apache-2.0
// The library load_select_N: those of load(in, 0), …, load(in, n - 1) that `keep` accepts, in
// order, and how many these are. Launched as select_N.
#include "../load_keep.cuh"
// The contract's header comes first.
#include "../detail/keep_hook.cuh"
#include "../detail/load_hook.cuh"
#include "select_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void load_select_clear(slot<tile_count>* slots, std::size_t size,
                                             unsigned* ticket, unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_select.threads, k_select.blocks)
    load_select_tiles(void const* __restrict__ in, fatlink_element* __restrict__ out,
                      unsigned long long* count, std::size_t n, slot<tile_count>* slots,
                      unsigned* ticket, void const* __restrict__ load_state,
                      void const* __restrict__ state)
{
  using selector = tile_selector<fatlink_element, keep_hook,
                                 select_settings<k_select.threads, k_select.rows, false>,
                                 copy_store<fatlink_element>, load_source>;
  __shared__ selector::storage shared;
  selector(shared, load_from(in, load_state), {out}, nullptr, count, n, slots, ticket,
           keep_hook{state})
      .select();
}
