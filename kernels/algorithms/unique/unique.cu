// SPDX-License-Identifier: Apache-2.0
// The library unique_N: copies the elements of `in` that are not equal to the element before them,
// in order, and counts them. A launch of unique_clear precedes unique_tiles, except for one tile.
#include "../equal.cuh"
#include "../select/select_shape.cuh"

using namespace fatlink_algorithms;

namespace {

struct differs {
  static constexpr bool k_takes_previous = true;
  __device__ __forceinline__ bool operator()(fatlink_element const& previous,
                                             fatlink_element const& x) const
  {
    return !equal(previous, x);
  }
};

}  // namespace

extern "C" __global__ void unique_clear(slot<tile_count>* slots, std::size_t size, unsigned* ticket,
                                        unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_select.threads, k_select.blocks)
    unique_tiles(fatlink_element const* in, fatlink_element* out, unsigned long long* count,
                 std::size_t n, unsigned long long const* limit, slot<tile_count>* slots,
                 unsigned* ticket)
{
  using selector = tile_selector<fatlink_element, differs,
                                 select_settings<k_select.threads, k_select.rows, false>>;
  __shared__ selector::storage shared;
  selector(shared, in, {out}, nullptr, count, {n, limit}, slots, ticket, differs()).select();
}
