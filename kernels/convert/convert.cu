// SPDX-License-Identifier: Apache-2.0
// The library: store_element(out, i, load_element(in, i, load_state), store_state) for i < n.
// Any grid and block size. The arrays are aligned to their elements and do not overlap.
#include <cstdint>

#include "convert.cuh"

// A single source defines the hooks itself.
#ifndef FATLINK_SINGLE_SOURCE
#include "default_load.cuh"
#include "default_store.cuh"
#endif

namespace {

/// `Elements` of a thread in a row, so that the loads and stores of inlined hooks can be joined to
/// wide ones; of slices, which are not aligned to 16 bytes, as many that are apart.
template <unsigned Elements>
__device__ __forceinline__ void convert_elements(void const* __restrict__ in,
                                                 void* __restrict__ out, std::size_t n,
                                                 void const* __restrict__ load_state,
                                                 void const* __restrict__ store_state)
{
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const threads = std::size_t{gridDim.x} * blockDim.x;
  float values[Elements];
  auto rest = thread;
  if (((reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out)) & 15U) == 0) {
    auto const groups = n / Elements;
    for (auto group = thread; group < groups; group += threads) {
#pragma unroll
      for (unsigned k = 0; k < Elements; ++k)
        values[k] =
            load_element(__builtin_assume_aligned(in, 16), group * Elements + k, load_state);
#pragma unroll
      for (unsigned k = 0; k < Elements; ++k)
        store_element(__builtin_assume_aligned(out, 16), group * Elements + k, values[k],
                      store_state);
    }
    rest += groups * Elements;
  } else {
    for (; rest + (Elements - 1) * threads < n; rest += Elements * threads) {
#pragma unroll
      for (unsigned k = 0; k < Elements; ++k)
        values[k] = load_element(in, rest + k * threads, load_state);
#pragma unroll
      for (unsigned k = 0; k < Elements; ++k)
        store_element(out, rest + k * threads, values[k], store_state);
    }
  }
#pragma unroll 1
  for (; rest < n; rest += threads)
    store_element(out, rest, load_element(in, rest, load_state), store_state);
}

}  // namespace

// Restricted, so that a state stays in registers while inlined hooks write to `out`.
extern "C" __global__ void convert(void const* __restrict__ in, void* __restrict__ out,
                                   std::size_t n, void const* __restrict__ load_state,
                                   void const* __restrict__ store_state)
{
  convert_elements<4>(in, out, n, load_state, store_state);
}

// Of elements of one byte. Conversions to float16 are assembly, which keeps stores apart.
extern "C" __global__ void convert_bytes(void const* __restrict__ in, void* __restrict__ out,
                                         std::size_t n, void const* __restrict__ load_state,
                                         void const* __restrict__ store_state)
{
  convert_elements<16>(in, out, n, load_state, store_state);
}
