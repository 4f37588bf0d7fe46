// SPDX-License-Identifier: Apache-2.0
// The library histogram_N: counts[b] = the number of elements whose bin is b. histogram_clear, then
// histogram_shared, or histogram_global where the bins do not fit in the shared memory of 8 blocks.
#include "../bin.cuh"
#include "../detail/overlap.cuh"
#include "histogram.cuh"

using namespace fatlink_algorithms;

namespace {

constexpr unsigned k_clear_threads = 512;
constexpr unsigned k_threads = 1024;
constexpr unsigned k_vectors = FATLINK_ELEMENT_BYTES == 32 ? 2 : 4;

struct bin_hook {
  void const* state;
  __device__ __forceinline__ unsigned operator()(fatlink_element x) const { return bin(x, state); }
};

}  // namespace

using counter = unsigned long long;

extern "C" __global__ void __launch_bounds__(k_clear_threads)
    histogram_clear(counter* __restrict__ counts, std::size_t bins)
{
  start_next_launch();
  auto const i = std::size_t{blockIdx.x} * k_clear_threads + threadIdx.x;
  if (i < bins) counts[i] = 0;
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
  __shared__ cached_bins<counter>::table table;
  cached_bins<counter> const cached{counts, bins, table};
  cached.clear<k_threads>();
  wait_for_last_launch();
  count_elements<k_vectors, k_threads>(array_source{in}, n, cached, bin_hook{state});
  cached.finish<k_threads>();
}
