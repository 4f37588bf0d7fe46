// SPDX-License-Identifier: Apache-2.0
// The library partition3_N: the elements of `in` in three arrays by their part, each in order, and
// how many are of the first and of the second part. A launch of partition3_clear precedes
// partition3_tiles, except for one tile.
#include "../part.cuh"
#include "../select/select_shape.cuh"
#include "part_tiles.cuh"

using namespace fatlink_algorithms;

namespace {

// The fastest shape of partition_N; the plan states the same numbers.
constexpr auto k_shape = select_shape_of(FATLINK_ELEMENT_BYTES, true);

struct part_hook {
  void const* state;
  __device__ __forceinline__ unsigned operator()(fatlink_element const& x) const
  {
    return part(x, state);
  }
};

}  // namespace

extern "C" __global__ void partition3_clear(slot<tile_counts>* slots, std::size_t size,
                                            unsigned* ticket, unsigned long long* first_count,
                                            unsigned long long* second_count)
{
  clear_selection(slots, size, ticket, first_count, second_count);
}

extern "C" __global__ void __launch_bounds__(k_shape.threads, k_shape.blocks)
    partition3_tiles(fatlink_element const* in, fatlink_element* first, fatlink_element* second,
                     fatlink_element* third, unsigned long long* first_count,
                     unsigned long long* second_count, std::size_t n, slot<tile_counts>* slots,
                     unsigned* ticket, void const* state)
{
  using divider = tile_divider<fatlink_element, part_hook, k_shape.threads, k_shape.rows>;
  __shared__ divider::storage shared;
  divider(shared, in, {first, second, third, first_count, second_count}, n, slots, ticket,
          part_hook{state})
      .divide();
}
