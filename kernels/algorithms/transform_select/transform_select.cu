// SPDX-License-Identifier: Apache-2.0
// The library transform_select_N: what `store` makes of the elements of `in` that `keep` accepts,
// in order, and how many these are. Before transform_select_tiles a launch of
// transform_select_clear.
#include "../detail/keep_hook.cuh"
#include "../keep_store.cuh"
#include "../select/select_shape.cuh"

using namespace fatlink_algorithms;

namespace {

struct store_hook {
  void* out;
  void const* state;

  __device__ __forceinline__ void operator()(std::size_t index, fatlink_element const& x) const
  {
    store(out, index, x, state);
  }
};

}  // namespace

extern "C" __global__ void transform_select_clear(slot<tile_count>* slots, std::size_t size,
                                                  unsigned* ticket, unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_select.threads, k_select.blocks)
    transform_select_tiles(fatlink_element const* __restrict__ in, void* __restrict__ out,
                           unsigned long long* count, std::size_t n, slot<tile_count>* slots,
                           unsigned* ticket, void const* keep_state, void const* store_state)
{
  using selector =
      tile_selector<fatlink_element, keep_hook,
                    select_settings<k_select.threads, k_select.rows, false>, store_hook>;
  __shared__ selector::storage shared;
  selector(shared, in, {out, store_state}, nullptr, count, {n, nullptr}, slots, ticket,
           keep_hook{keep_state})
      .select();
}
