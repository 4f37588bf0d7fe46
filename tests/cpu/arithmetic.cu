// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic of every width, compared with the host's: one pair of operands for each
// thread.
#include "integer_arithmetic.hpp"

using namespace arithmetic;

// Not in the unnamed namespace: a parameter of such a type makes each compile another one.
struct pair {
  std::uint64_t low;
  std::uint64_t high;
};

namespace {

template <typename T>
__device__ T operand(pair value)
{
  return static_cast<T>(uint128(value.high) << 64 | value.low);
}

__device__ std::uint64_t join(unsigned low, unsigned high)
{
  return std::uint64_t{high} << 32 | low;
}

template <typename T, typename U>
__device__ void compute_one(pair const* a, pair const* b, std::uint64_t* out, unsigned count)
{
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  compute<T, U>(operand<T>(a[i]), operand<T>(b[i]),
                result_writer(out + std::size_t(k_results) * i));
}

}  // namespace

extern "C" __global__ void compute_int64(pair const* a, pair const* b, std::uint64_t* out,
                                         unsigned count)
{
  compute_one<std::int64_t, std::uint64_t>(a, b, out, count);
}

extern "C" __global__ void compute_uint64(pair const* a, pair const* b, std::uint64_t* out,
                                          unsigned count)
{
  compute_one<std::uint64_t, std::uint64_t>(a, b, out, count);
}

extern "C" __global__ void compute_int128(pair const* a, pair const* b, std::uint64_t* out,
                                          unsigned count)
{
  compute_one<int128, uint128>(a, b, out, count);
}

extern "C" __global__ void compute_uint128(pair const* a, pair const* b, std::uint64_t* out,
                                           unsigned count)
{
  compute_one<uint128, uint128>(a, b, out, count);
}

/// Chains of add.cc, sub.cc, addc, subc and madc, on operands that the compiler cannot fold.
extern "C" __global__ void compute_carries(pair const* a, pair const* b, std::uint64_t* out,
                                           unsigned count)
{
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  auto const x = static_cast<unsigned>(a[i].low);
  auto const y = static_cast<unsigned>(b[i].low);
  auto const u = static_cast<unsigned>(a[i].high);
  auto const v = static_cast<unsigned>(b[i].high);
  auto const wide_x = a[i].low;
  auto const wide_y = b[i].low;
  auto* const results = out + std::size_t{k_carry_results} * i;
  unsigned low = 0, high = 0;
  asm volatile("sub.cc.u32 %0, %2, %3; addc.u32 %1, %4, %5;"
               : "=&r"(low), "=r"(high)
               : "r"(x), "r"(y), "r"(u), "r"(v));
  results[0] = join(low, high);
  asm volatile("add.cc.u32 %0, %2, %3; subc.u32 %1, %4, %5;"
               : "=&r"(low), "=r"(high)
               : "r"(x), "r"(y), "r"(u), "r"(v));
  results[1] = join(low, high);
  asm volatile("sub.cc.u32 %0, %2, %3; madc.lo.u32 %1, %4, %5, %2;"
               : "=&r"(low), "=r"(high)
               : "r"(x), "r"(y), "r"(u), "r"(v));
  results[2] = join(low, high);
  asm volatile("mad.lo.cc.u32 %0, %2, %3, %4; subc.u32 %1, %4, %5;"
               : "=&r"(low), "=r"(high)
               : "r"(x), "r"(y), "r"(u), "r"(v));
  results[3] = join(low, high);
  asm volatile("sub.cc.u32 %0, %2, %3; subc.cc.u32 %0, %4, %5; addc.u32 %1, %4, %5;"
               : "=&r"(low), "=r"(high)
               : "r"(x), "r"(y), "r"(u), "r"(v));
  results[4] = join(low, high);
  std::uint64_t wide_low = 0, wide_high = 0;
  asm volatile("sub.cc.u64 %0, %2, %3; addc.u64 %1, %2, %3;"
               : "=&l"(wide_low), "=l"(wide_high)
               : "l"(wide_x), "l"(wide_y));
  results[5] = wide_low;
  results[6] = wide_high;
  asm volatile("add.cc.u64 %0, %2, %3; subc.u64 %1, %2, %3;"
               : "=&l"(wide_low), "=l"(wide_high)
               : "l"(wide_x), "l"(wide_y));
  results[7] = wide_low;
  results[8] = wide_high;
}
