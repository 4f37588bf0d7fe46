// SPDX-License-Identifier: Apache-2.0
// The libraries unique_by_key and unique_by_key_wide: the key of each run of equal keys, and the
// first value of the run, of FATLINK_VALUE_BYTES bytes. A launch of unique_by_key_clear precedes
// unique_by_key_tiles, except for one tile.
#include "../same_key.cuh"
#include "list_runs.cuh"

using namespace fatlink_algorithms;

namespace {

constexpr unsigned k_threads = 256;
using short_lister = run_lister<k_threads, 2>;
using long_lister = run_lister<k_threads, 8>;
#if FATLINK_VALUE_BYTES == 4
using value_type = unsigned;
#else
using value_type = unsigned long long;
#endif

}  // namespace

extern "C" __global__ void unique_by_key_clear(slot<tile_count>* slots, std::size_t size,
                                               unsigned* ticket, unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_threads, 4)
    unique_by_key_tiles(void const* keys, value_type const* in, void* out_keys, value_type* out,
                        unsigned long long* count, std::size_t n, unsigned long long const* limit,
                        slot<tile_count>* slots, unsigned* ticket)
{
  __shared__ union {
    short_lister::storage few;
    long_lister::storage many;
  } shared;
  key_hooks const hooks{keys, out_keys};
  if (n < k_short_list)
    short_lister(shared.few, hooks, {n, limit}, ticket).write_values(slots, in, out, count);
  else
    long_lister(shared.many, hooks, {n, limit}, ticket).write_values(slots, in, out, count);
}
