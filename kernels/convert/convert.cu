// SPDX-License-Identifier: Apache-2.0
// The library: store_element(out, i, load_element(in, i, load_state), store_state) for i < n.
// Any grid and block size. The arrays are aligned to 16 bytes and do not overlap.
#include "convert.cuh"

// A single source defines the hooks itself.
#ifndef FATLINK_SINGLE_SOURCE
#include "default_load.cuh"
#include "default_store.cuh"
#endif

namespace {

constexpr unsigned k_unrolled = 4;  // elements of a thread in a row: 16 bytes of float

}  // namespace

// Restricted, so that a state stays in registers while inlined hooks write to `out`.
extern "C" __global__ void convert(void const* __restrict__ in, void* __restrict__ out,
                                   std::size_t n, void const* __restrict__ load_state,
                                   void const* __restrict__ store_state)
{
  // So that the loads and stores of inlined hooks can be joined to wide ones.
  in = __builtin_assume_aligned(in, 16);
  out = __builtin_assume_aligned(out, 16);
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const threads = std::size_t{gridDim.x} * blockDim.x;

  auto const groups = n / k_unrolled;
  for (auto group = thread; group < groups; group += threads) {
    float values[k_unrolled];
#pragma unroll
    for (unsigned k = 0; k < k_unrolled; ++k)
      values[k] = load_element(in, group * k_unrolled + k, load_state);
#pragma unroll
    for (unsigned k = 0; k < k_unrolled; ++k)
      store_element(out, group * k_unrolled + k, values[k], store_state);
  }

  // Up to three elements after the groups, one for each thread.
  for (auto i = groups * k_unrolled + thread; i < n; i += threads)
    store_element(out, i, load_element(in, i, load_state), store_state);
}
