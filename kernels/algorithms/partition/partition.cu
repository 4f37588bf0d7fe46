// SPDX-License-Identifier: Apache-2.0
// The library partition_N: the elements of `in` that `keep` accepts, the others, both in order, and
// how many are accepted. Before partition_tiles a launch of partition_clear.
#include "../detail/keep_hook.cuh"
#include "../keep.cuh"
#include "../select/select_shape.cuh"

using namespace fatlink_algorithms;

extern "C" __global__ void partition_clear(slot<tile_count>* slots, std::size_t size,
                                           unsigned* ticket, unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_partition.threads, k_partition.blocks)
    partition_tiles(fatlink_element const* in, fatlink_element* out, fatlink_element* rejected,
                    unsigned long long* count, std::size_t n, slot<tile_count>* slots,
                    unsigned* ticket, void const* state)
{
  using selector = tile_selector<fatlink_element, keep_hook,
                                 select_settings<k_partition.threads, k_partition.rows, true>>;
  __shared__ selector::storage shared;
  selector(shared, in, {out}, rejected, count, {n, nullptr}, slots, ticket, keep_hook{state})
      .select();
}
