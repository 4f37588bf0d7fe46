// SPDX-License-Identifier: Apache-2.0
// The library load_histogram_N: counts[b] = the number of elements load(in, i) whose bin is b.
// Launched as histogram_N.
#include "../load_bin.cuh"
// The contract's header comes first.
#include "../detail/load_hook.cuh"
#include "histogram.cuh"

using namespace fatlink_algorithms;
using counter = unsigned long long;

extern "C" __global__ void __launch_bounds__(k_clear_threads)
    load_histogram_clear(counter* __restrict__ counts, std::size_t bins)
{
  clear_counts(counts, bins);
}

extern "C" __global__ void __launch_bounds__(k_threads)
    load_histogram_shared(void const* __restrict__ in, counter* __restrict__ counts, std::size_t n,
                          unsigned bins, void const* __restrict__ load_state,
                          void const* __restrict__ state, unsigned width)
{
  histogram_in_shared<k_vectors, k_threads>(load_from(in, load_state), counts, n, bins, width,
                                            bin_hook{state});
}

extern "C" __global__ void __launch_bounds__(k_threads)
    load_histogram_global(void const* __restrict__ in, counter* __restrict__ counts, std::size_t n,
                          unsigned bins, void const* __restrict__ load_state,
                          void const* __restrict__ state)
{
  histogram_in_global<k_vectors, k_threads>(load_from(in, load_state), counts, n, bins,
                                            bin_hook{state});
}
