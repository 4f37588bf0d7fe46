// SPDX-License-Identifier: Apache-2.0
// The library run_lengths: the key and the length of each run of equal keys. A launch of
// run_lengths_clear precedes run_lengths_tiles, except for one tile.
#include "../same_key.cuh"
#include "list_runs.cuh"

using namespace fatlink_algorithms;

namespace {

constexpr unsigned k_threads = 256;
using short_lister = run_lister<k_threads, 2>;
using long_lister = run_lister<k_threads, 8>;

}  // namespace

extern "C" __global__ void run_lengths_clear(slot<run_fold<unsigned long long>>* slots,
                                             std::size_t size, unsigned* ticket,
                                             unsigned long long* count)
{
  clear_selection(slots, size, ticket, count);
}

extern "C" __global__ void __launch_bounds__(k_threads, 4)
    run_lengths_tiles(void const* keys, void* out_keys, unsigned long long* lengths,
                      unsigned long long* count, std::size_t n, unsigned long long const* limit,
                      slot<run_fold<unsigned long long>>* slots, unsigned* ticket)
{
  __shared__ union {
    short_lister::storage few;
    long_lister::storage many;
  } shared;
  key_hooks const hooks{keys, out_keys};
  if (n < k_short_list)
    short_lister(shared.few, hooks, {n, limit}, ticket).write_lengths(slots, lengths, count);
  else
    long_lister(shared.many, hooks, {n, limit}, ticket).write_lengths(slots, lengths, count);
}
