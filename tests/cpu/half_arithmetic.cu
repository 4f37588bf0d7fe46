// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the 16-bit floating-point types with the toolkit's headers, compared with the
// host's: one set of operands for each thread.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "half_operands.hpp"

namespace {

/// The functions whose names depend on the type.
struct half_functions {
  using type = __half;
  using pair = __half2;
  static __device__ type from_bits(std::uint16_t bits) { return __ushort_as_half(bits); }
  static __device__ std::uint16_t bits_of(type x) { return __half_as_ushort(x); }
  static __device__ pair make_pair(type x, type y) { return __halves2half2(x, y); }
  static __device__ float as_float(type x) { return __half2float(x); }
  static __device__ void to_integers(type x, std::uint64_t* results)
  {
    using namespace halves;
    results[to_int16] = static_cast<std::uint64_t>(__half2short_rz(x));
    results[to_uint16] = __half2ushort_rz(x);
    results[to_int32] = static_cast<std::uint64_t>(__half2int_rz(x));
    results[to_uint32] = __half2uint_rz(x);
    results[to_int64] = static_cast<std::uint64_t>(__half2ll_rz(x));
    results[to_uint64] = __half2ull_rz(x);
    results[to_int32_nearest] = static_cast<std::uint64_t>(__half2int_rn(x));
    results[to_int32_down] = static_cast<std::uint64_t>(__half2int_rd(x));
    results[to_int32_up] = static_cast<std::uint64_t>(__half2int_ru(x));
  }
  static __device__ void from_numbers(halves::operands const& x, std::uint64_t* results)
  {
    using namespace halves;
    results[from_float] = bits_of(__float2half_rn(x.single));
    results[from_float_zero] = bits_of(__float2half_rz(x.single));
    results[from_float_down] = bits_of(__float2half_rd(x.single));
    results[from_float_up] = bits_of(__float2half_ru(x.single));
    results[from_double] = bits_of(__double2half(x.real));
    results[from_int16] = bits_of(__short2half_rn(static_cast<short>(x.whole)));
    results[from_uint32] = bits_of(__uint2half_rn(static_cast<unsigned>(x.whole)));
    results[from_int64] = bits_of(__ll2half_rn(x.whole));
    results[from_uint64] = bits_of(__ull2half_rn(static_cast<std::uint64_t>(x.whole)));
    results[from_int64_zero] = bits_of(__ll2half_rz(x.whole));
  }
};

struct bfloat16_functions {
  using type = __nv_bfloat16;
  using pair = __nv_bfloat162;
  static __device__ type from_bits(std::uint16_t bits) { return __ushort_as_bfloat16(bits); }
  static __device__ std::uint16_t bits_of(type x) { return __bfloat16_as_ushort(x); }
  static __device__ pair make_pair(type x, type y) { return __halves2bfloat162(x, y); }
  static __device__ float as_float(type x) { return __bfloat162float(x); }
  static __device__ void to_integers(type x, std::uint64_t* results)
  {
    using namespace halves;
    results[to_int16] = static_cast<std::uint64_t>(__bfloat162short_rz(x));
    results[to_uint16] = __bfloat162ushort_rz(x);
    results[to_int32] = static_cast<std::uint64_t>(__bfloat162int_rz(x));
    results[to_uint32] = __bfloat162uint_rz(x);
    results[to_int64] = static_cast<std::uint64_t>(__bfloat162ll_rz(x));
    results[to_uint64] = __bfloat162ull_rz(x);
    results[to_int32_nearest] = static_cast<std::uint64_t>(__bfloat162int_rn(x));
    results[to_int32_down] = static_cast<std::uint64_t>(__bfloat162int_rd(x));
    results[to_int32_up] = static_cast<std::uint64_t>(__bfloat162int_ru(x));
  }
  static __device__ void from_numbers(halves::operands const& x, std::uint64_t* results)
  {
    using namespace halves;
    results[from_float] = bits_of(__float2bfloat16_rn(x.single));
    results[from_float_zero] = bits_of(__float2bfloat16_rz(x.single));
    results[from_float_down] = bits_of(__float2bfloat16_rd(x.single));
    results[from_float_up] = bits_of(__float2bfloat16_ru(x.single));
    results[from_double] = bits_of(__double2bfloat16(x.real));
    results[from_int16] = bits_of(__short2bfloat16_rn(static_cast<short>(x.whole)));
    results[from_uint32] = bits_of(__uint2bfloat16_rn(static_cast<unsigned>(x.whole)));
    results[from_int64] = bits_of(__ll2bfloat16_rn(x.whole));
    results[from_uint64] = bits_of(__ull2bfloat16_rn(static_cast<std::uint64_t>(x.whole)));
    results[from_int64_zero] = bits_of(__ll2bfloat16_rz(x.whole));
  }
};

template <typename Functions>
struct arithmetic {
  using type = typename Functions::type;
  using pair = typename Functions::pair;

  static __device__ std::uint64_t bits_of(type x) { return Functions::bits_of(x); }
  static __device__ std::uint64_t bits_of(pair x)
  {
    return bits_of(lower(x)) | bits_of(upper(x)) << 16;
  }
  static __device__ type lower(pair x) { return x.x; }
  static __device__ type upper(pair x) { return x.y; }

  static __device__ void compute(type a, type b, type c, std::uint64_t* results)
  {
    using namespace halves;
    results[sum] = bits_of(__hadd_rn(a, b));
    results[difference] = bits_of(__hsub_rn(a, b));
    results[product] = bits_of(__hmul_rn(a, b));
    results[fused] = bits_of(__hfma(a, b, c));
    results[quotient] = bits_of(__hdiv(a, b));
    results[root] = bits_of(hsqrt(a));
    results[negative] = bits_of(__hneg(a));
    results[magnitude] = bits_of(__habs(a));
    results[least] = bits_of(__hmin(a, b));
    results[most] = bits_of(__hmax(a, b));
    results[comparisons] = __hlt(a, b) | __hle(a, b) << 1 | __hgt(a, b) << 2 | __hge(a, b) << 3 |
                           __heq(a, b) << 4 | __hneu(a, b) << 5;
  }

  static __device__ void compute_pairs(type a, type b, type c, std::uint64_t* results)
  {
    using namespace halves;
    auto const x = Functions::make_pair(a, b);
    auto const y = Functions::make_pair(b, c);
    results[pair_sum] = bits_of(__hadd2_rn(x, y));
    results[pair_product] = bits_of(__hmul2_rn(x, y));
    results[pair_fused] = bits_of(__hfma2(x, y, Functions::make_pair(c, a)));
  }
};

template <typename Functions>
__device__ void compute_one(halves::operands const* in, std::uint64_t* out, unsigned count)
{
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  auto* const results = out + std::size_t{halves::k_words} * i;
  auto const a = Functions::from_bits(in[i].a);
  auto const b = Functions::from_bits(in[i].b);
  auto const c = Functions::from_bits(in[i].c);
  arithmetic<Functions>::compute(a, b, c, results);
  arithmetic<Functions>::compute_pairs(a, b, c, results);
  results[halves::as_float] = __float_as_uint(Functions::as_float(a));
  Functions::to_integers(a, results);
  Functions::from_numbers(in[i], results);
}

}  // namespace

extern "C" __global__ void compute_half(halves::operands const* in, std::uint64_t* out,
                                        unsigned count)
{
  compute_one<half_functions>(in, out, count);
}

extern "C" __global__ void compute_bfloat16(halves::operands const* in, std::uint64_t* out,
                                            unsigned count)
{
  compute_one<bfloat16_functions>(in, out, count);
}
