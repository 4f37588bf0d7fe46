// SPDX-License-Identifier: Apache-2.0
// Numeric kernels. Compiled without contraction, and with operations that the PTX ISA rounds
// exactly, so that the host computes the same bits; but for black_scholes.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

}  // namespace

/// Fourier transform of 256 complex numbers for each block of 128 threads, in shared memory.
/// roots: exp(-2 pi i k / 256) for k < 128.
extern "C" __global__ void fourier(float2* out, float2 const* in, float2 const* roots)
{
  __shared__ float2 values[256];
  auto const* const part = in + 256 * blockIdx.x;
  for (auto i = threadIdx.x; i < 256; i += 128) values[__brev(i) >> 24U] = part[i];
  for (unsigned half = 1; half < 256; half *= 2) {
    __syncthreads();
    auto const k = threadIdx.x % half;
    auto const first = threadIdx.x / half * 2 * half + k;
    auto const root = roots[k * (128 / half)];
    auto const a = values[first];
    auto const b = values[first + half];
    float2 const product{b.x * root.x - b.y * root.y, b.x * root.y + b.y * root.x};
    values[first] = {a.x + product.x, a.y + product.y};
    values[first + half] = {a.x - product.x, a.y - product.y};
  }
  __syncthreads();
  for (auto i = threadIdx.x; i < 256; i += 128) out[256 * blockIdx.x + i] = values[i];
}

/// The acceleration of each body (x, y, z, mass) by all, tile by tile in dynamic shared memory.
extern "C" __global__ void n_body(float4* out, float4 const* bodies, unsigned count)
{
  extern __shared__ float4 tile[];
  auto const own = bodies[global_rank()];
  float4 sum{0, 0, 0, 0};
  for (unsigned first = 0; first < count; first += blockDim.x) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (unsigned k = 0; k < blockDim.x; ++k) {
      auto const x = tile[k].x - own.x;
      auto const y = tile[k].y - own.y;
      auto const z = tile[k].z - own.z;
      auto const square = x * x + y * y + z * z + 0.01F;
      auto const factor = tile[k].w / (square * sqrtf(square));
      sum.x += x * factor;
      sum.y += y * factor;
      sum.z += z * factor;
    }
    __syncthreads();
  }
  out[global_rank()] = sum;
}

/// Steps until z * z + c leaves the circle of radius 2, at most `limit`.
extern "C" __global__ void mandelbrot(unsigned* out, unsigned limit)
{
  auto const x = blockIdx.x * blockDim.x + threadIdx.x;
  auto const y = blockIdx.y * blockDim.y + threadIdx.y;
  auto const width = gridDim.x * blockDim.x;
  auto const height = gridDim.y * blockDim.y;
  auto const real = -2.0F + 3.0F * static_cast<float>(x) / static_cast<float>(width);
  auto const imaginary = -1.0F + 2.0F * static_cast<float>(y) / static_cast<float>(height);
  float a = 0;
  float b = 0;
  unsigned step = 0;
  for (; step < limit && a * a + b * b < 4.0F; ++step) {
    auto const next = a * a - b * b + real;
    b = 2.0F * a * b + imaginary;
    a = next;
  }
  out[y * width + x] = step;
}

/// Prices of a call and a put option: in: price, strike and years; rate 0.02, volatility 0.3.
extern "C" __global__ void black_scholes(double2* out, double const* in)
{
  auto const* const option = in + 3 * global_rank();
  auto const spread = 0.3 * sqrt(option[2]);
  auto const d = (log(option[0] / option[1]) + (0.02 + 0.045) * option[2]) / spread;
  auto const discounted = option[1] * exp(-0.02 * option[2]);
  auto const call = option[0] * normcdf(d) - discounted * normcdf(d - spread);
  out[global_rank()] = {call, call - option[0] + discounted};
}

/// Counts the points inside the quarter circle: `tries` for each thread, from a generator of its
/// own; reduced by shuffles and one atomic operation for each warp.
extern "C" __global__ void monte_carlo(unsigned long long* hits, unsigned tries)
{
  auto state = global_rank() * 2654435761U + 12345U;
  unsigned inside = 0;
  auto const next = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8U) * 0x1p-24F;
  };
  for (unsigned i = 0; i < tries; ++i) {
    auto const x = next();
    auto const y = next();
    inside += x * x + y * y < 1.0F ? 1 : 0;
  }
  for (int step = 16; step > 0; step /= 2) inside += __shfl_xor_sync(~0U, inside, step);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, static_cast<unsigned long long>(inside));
}

__constant__ unsigned sobol_directions[32];

/// Numbers of a quasi-random sequence, and the sum of their squares in fixed point, for each block.
extern "C" __global__ void quasi_random(unsigned* out, unsigned long long* sums)
{
  unsigned number = 0;
  auto const gray = global_rank() ^ global_rank() >> 1U;
  for (int bit = 0; bit < 32; ++bit)
    if ((gray >> bit & 1U) != 0) number ^= sobol_directions[bit];
  out[global_rank()] = number;
  atomicAdd(sums + blockIdx.x, static_cast<unsigned long long>(__umulhi(number, number)));
}

/// Eigenvalue number i of a symmetric tridiagonal matrix for thread i, by bisection.
extern "C" __global__ void eigenvalues(double* out, double const* diagonal,
                                       double const* off_diagonal, unsigned size, double bound)
{
  auto const smaller_than = [&](double x) {  // the number of eigenvalues below x
    unsigned count = 0;
    double pivot = 1;
    for (unsigned k = 0; k < size; ++k) {
      auto const side = k == 0 ? 0.0 : off_diagonal[k - 1];
      pivot = diagonal[k] - x - side * side / pivot;
      if (pivot == 0) pivot = 1e-300;
      count += pivot < 0 ? 1 : 0;
    }
    return count;
  };
  auto low = -bound;
  auto high = bound;
  for (int step = 0; step < 60; ++step) {
    auto const middle = 0.5 * (low + high);
    if (smaller_than(middle) <= global_rank())
      low = middle;
    else
      high = middle;
  }
  out[global_rank()] = low;
}

/// Pairs of half numbers: 4 results for each pair of words.
extern "C" __global__ void half_pairs(__half2* out, __half2 const* in)
{
  auto const a = in[2 * global_rank()];
  auto const b = in[2 * global_rank() + 1];
  auto* const results = out + 4 * global_rank();
  results[0] = __hfma2(a, b, __float2half2_rn(3.0F));
  results[1] = __hmax2(__hsub2(a, b), __hneg2(b));
  results[2] = __lowhigh2highlow(__hadd2(a, b));
  results[3] = __hlt2(a, b);
}

/// One step of red-black relaxation on a ring of doubles.
extern "C" __global__ void relax(double* values, unsigned count, unsigned color)
{
  auto const i = 2 * global_rank() + color;
  if (i < count)
    values[i] +=
        0.75 * (0.5 * (values[(i + count - 1) % count] + values[(i + 1) % count]) - values[i]);
}
