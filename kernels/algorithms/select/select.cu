// SPDX-License-Identifier: Apache-2.0
// The library select_N: the elements of `in` that `keep` accepts, in order, and how many these are.
// Before select_tiles a launch of select_clear.
#include "../detail/keep_hook.cuh"
#include "../keep.cuh"
#include "select_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void select_clear(slot<tile_count>* slots, std::size_t size, unsigned* ticket,
                                        unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_select.threads, k_select.blocks)
    select_tiles(fatlink_element const* in, fatlink_element* out, unsigned long long* count,
                 std::size_t n, unsigned long long const* limit, slot<tile_count>* slots,
                 unsigned* ticket, void const* state)
{
  using selector = tile_selector<fatlink_element, keep_hook,
                                 select_settings<k_select.threads, k_select.rows, false>>;
  __shared__ selector::storage shared;
  selector(shared, in, {out}, nullptr, count, {n, limit}, slots, ticket, keep_hook{state}).select();
}
