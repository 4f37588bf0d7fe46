// SPDX-License-Identifier: Apache-2.0
// The library histogram_N: counts[b] = the number of elements whose bin is b. histogram_clear, then
// histogram_shared, or histogram_global where the bins do not fit in the shared memory of 8 blocks.
#include "../bin.cuh"
#include "histogram.cuh"

using namespace fatlink_algorithms;

using counter = unsigned long long;

extern "C" __global__ void __launch_bounds__(k_clear_threads)
    histogram_clear(counter* __restrict__ counts, std::size_t bins)
{
  clear_counts(counts, bins);
}

// Blocks of row y of the grid count bins y * width to (y + 1) * width - 1. Dynamic shared memory:
// an unsigned integer for each of them.
extern "C" __global__ void __launch_bounds__(k_threads)
    histogram_shared(fatlink_element const* __restrict__ in, counter* __restrict__ counts,
                     std::size_t n, unsigned bins, void const* __restrict__ state, unsigned width)
{
  histogram_in_shared<k_vectors, k_threads>(array_source{in}, counts, n, bins, width,
                                            bin_hook{state});
}

extern "C" __global__ void __launch_bounds__(k_threads)
    histogram_global(fatlink_element const* __restrict__ in, counter* __restrict__ counts,
                     std::size_t n, unsigned bins, void const* __restrict__ state)
{
  histogram_in_global<k_vectors, k_threads>(array_source{in}, counts, n, bins, bin_hook{state});
}
