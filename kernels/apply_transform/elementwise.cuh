// SPDX-License-Identifier: Apache-2.0
// The loop of every elementwise kernel: out[i] = f(in[i]) for i < count, with loads and stores of
// 16 bytes if the alignment of both arrays allows it. Any grid and block size. Arrays are aligned
// to 4 bytes; in and out are the same array or do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace elementwise_detail {

constexpr unsigned k_vector = 4;  // floats per float4

/// Number of elements from `address` to the next address that is 16-byte aligned.
__device__ inline std::size_t count_unaligned(float const* address)
{
  auto const misaligned = reinterpret_cast<std::uintptr_t>(address) / sizeof(float) % k_vector;
  return (k_vector - misaligned) % k_vector;
}

/// Whether both addresses have the same offset from 16-byte alignment.
__device__ inline bool have_same_alignment(float const* in, float const* out)
{
  auto const difference =
      reinterpret_cast<std::uintptr_t>(in) ^ reinterpret_cast<std::uintptr_t>(out);
  return difference % sizeof(float4) == 0;
}

}  // namespace elementwise_detail

template <typename Function>
__device__ void elementwise(float const* in, float* out, std::size_t count, Function f)
{
  using namespace elementwise_detail;
  auto const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const threads = std::size_t{gridDim.x} * blockDim.x;

  if (!have_same_alignment(in, out)) {
    for (auto i = thread; i < count; i += threads) out[i] = f(in[i]);
    return;
  }

  auto const unaligned = count_unaligned(in);
  auto const head = unaligned < count ? unaligned : count;
  auto const vectors = (count - head) / k_vector;
  auto const* in4 = reinterpret_cast<float4 const*>(in + head);
  auto* out4 = reinterpret_cast<float4*>(out + head);
  for (auto i = thread; i < vectors; i += threads) {
    auto const x = __ldcs(in4 + i);
    __stcs(out4 + i, make_float4(f(x.x), f(x.y), f(x.z), f(x.w)));
  }

  // Up to three elements before and after the vectors, one per thread.
  auto const tail = head + vectors * k_vector;
  for (auto i = thread; i < head; i += threads) out[i] = f(in[i]);
  for (auto i = tail + thread; i < count; i += threads) out[i] = f(in[i]);
}
