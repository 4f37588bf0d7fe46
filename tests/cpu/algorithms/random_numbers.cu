// SPDX-License-Identifier: Apache-2.0
// cuRAND's generators in device code.
#include <curand_kernel.h>

namespace {

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

}  // namespace

/// `count` numbers of the subsequence with the thread's rank.
extern "C" __global__ void philox(unsigned* out, unsigned seed, unsigned count)
{
  curandStatePhilox4_32_10_t state;
  curand_init(seed, global_rank(), 0, &state);
  for (unsigned k = 0; k < count; ++k) out[count * global_rank() + k] = curand(&state);
}

/// The sequence of seed 0; each thread skips to its part of `count` numbers.
extern "C" __global__ void mrg32k3a(unsigned* out, unsigned count)
{
  curandStateMRG32k3a_t state;
  curand_init(0, 0, count * global_rank(), &state);
  for (unsigned k = 0; k < count; ++k) out[count * global_rank() + k] = curand(&state);
}

/// Every thread has a seed of its own: seed + rank.
extern "C" __global__ void xorwow(unsigned* out, unsigned seed, unsigned count)
{
  curandStateXORWOW_t state;
  curand_init(seed + global_rank(), 0, 0, &state);
  for (unsigned k = 0; k < count; ++k) out[count * global_rank() + k] = curand(&state);
}

/// The same numbers, each of the `count` reached by skipping from the start.
extern "C" __global__ void xorwow_skipped(unsigned* out, unsigned seed, unsigned count)
{
  curandStateXORWOW_t state;
  curand_init(seed + global_rank() / count, 0, global_rank() % count, &state);
  out[global_rank()] = curand(&state);
}

/// Uniform, normal and log-normal numbers.
extern "C" __global__ void distributions(float* uniform, float* normal, double* log_normal,
                                         unsigned count)
{
  curandStatePhilox4_32_10_t state;
  curand_init(99, global_rank(), 0, &state);
  for (auto k = count * global_rank(); k < count * (global_rank() + 1); ++k) {
    uniform[k] = curand_uniform(&state);
    normal[k] = curand_normal(&state);
    log_normal[k] = curand_log_normal_double(&state, 0, 0.25);
  }
}

/// Poisson numbers with a mean below 64, up to 4000 and above: each has a method of its own.
extern "C" __global__ void poisson(unsigned* out, double mean, unsigned count)
{
  curandStateXORWOW_t state;
  curand_init(7 + global_rank(), 0, 0, &state);
  for (unsigned k = 0; k < count; ++k)
    out[count * global_rank() + k] = curand_poisson(&state, mean);
}
