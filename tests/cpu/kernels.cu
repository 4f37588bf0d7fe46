// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads cooperate, and kernels that fail. They run on the reference device and on
// GPUs. Results are integers, so they do not depend on the order of additions.
#include <cassert>
#include <cstdint>
#include <cstdio>

constexpr unsigned k_block = 256;

__device__ unsigned counters[3] = {1, 20, 300};
__device__ unsigned* second_counter = &counters[1];

/// out[block] = the sum of the block's part of `in`. Uses shared memory and barriers.
extern "C" __global__ void block_sum(unsigned const* in, unsigned* out, unsigned count)
{
  __shared__ unsigned part[k_block];
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < count ? in[i] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

/// out: 8 numbers for each thread: shuffles, votes, matches and reductions.
extern "C" __global__ void warp_exchange(unsigned const* in, unsigned* out)
{
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  auto const value = in[i];
  auto* const results = out + std::size_t{8} * i;
  results[0] = __shfl_xor_sync(~0U, value, 5);
  results[1] = __shfl_up_sync(~0U, value, 3);
  results[2] = __shfl_down_sync(~0U, value, 7, 8);
  results[3] = __shfl_sync(~0U, value, value & 31U, 16);
  results[4] = __ballot_sync(~0U, value % 3 == 0);
  results[5] = __reduce_add_sync(~0U, value) ^ __reduce_max_sync(~0U, value);
  results[6] = __match_any_sync(~0U, value % 7);
  if (value % 2 == 0)
    results[7] = __popc(__activemask()) * 100 + __any_sync(__activemask(), value > 90);
  else
    results[7] =
        __all_sync(__activemask(), value > 5) + 1000 * __reduce_min_sync(__activemask(), value);
}

/// cells: 8 numbers that all threads of all blocks change.
extern "C" __global__ void atomics(unsigned const* in, unsigned* cells, unsigned count)
{
  __shared__ unsigned block_total;
  if (threadIdx.x == 0) block_total = 0;
  __syncthreads();
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    auto const value = in[i];
    atomicAdd(cells + 0, value);
    atomicMax(cells + 1, value);
    atomicXor(cells + 2, value * 0x9E3779B9U);
    atomicInc(cells + 3, 1000U);
    atomicAdd(reinterpret_cast<float*>(cells) + 4, 1.0F);
    atomicAdd(reinterpret_cast<unsigned long long*>(cells + 6), 1ULL << 20);
    atomicAdd(&block_total, value);
    unsigned expected = cells[5];
    while (true) {  // adds with compare-and-swap
      auto const previous = atomicCAS(cells + 5, expected, expected + value);
      if (previous == expected) break;
      expected = previous;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(second_counter, block_total);
}

/// out[0..2] = the counters that `atomics` changed.
extern "C" __global__ void read_counters(unsigned* out)
{
  out[threadIdx.x] = counters[threadIdx.x];
}

/// Each thread waits for the previous one: diverged threads must make progress.
extern "C" __global__ void in_turn(unsigned volatile* turn, unsigned* order)
{
  auto const thread = threadIdx.x;
  bool has_run = false;
  while (!has_run)
    if (*turn == thread) {
      order[thread] = thread * 2;
      *turn = thread + 1;
      has_run = true;
    }
}

/// out[i] = the number of threads with an odd index, and whether all or any have one (bar.red).
extern "C" __global__ void barrier_votes(unsigned* out)
{
  auto const odd = static_cast<int>(threadIdx.x & 1U);
  auto const votes = __syncthreads_count(odd);
  auto const all_odd = __syncthreads_and(odd);
  auto const any_odd = __syncthreads_or(odd);
  out[threadIdx.x] = static_cast<unsigned>(votes * 10 + all_odd * 2 + any_odd);
}

__constant__ unsigned factors[4] = {1, 2, 3, 4};

/// in * factors: the host changes the constants.
extern "C" __global__ void scale(unsigned const* in, unsigned* out)
{
  out[threadIdx.x] = in[threadIdx.x] * factors[threadIdx.x % 4];
}

/// out[i] = count - 1 - i, through `count` words of dynamic shared memory.
extern "C" __global__ void count_down(unsigned* out, unsigned count)
{
  extern __shared__ unsigned words[];
  for (auto i = threadIdx.x; i < count; i += blockDim.x) words[i] = i;
  __syncthreads();
  for (auto i = threadIdx.x; i < count; i += blockDim.x) out[i] = words[count - 1 - i];
}

/// Reverses `in` through dynamic shared memory.
extern "C" __global__ void reverse(unsigned const* in, unsigned* out)
{
  extern __shared__ unsigned shared_values[];
  shared_values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = shared_values[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void say(unsigned value)
{
  printf("%s %u %5.2f|%-4d|%c%%|%llx\n", "thread", threadIdx.x, value * 0.5, -3, 'z',
         0x123456789ULL);
  assert(value != 13);
}

/// 12 results for each input: conversions and arithmetic in corner cases that the PTX ISA leaves
/// open or mentions only briefly.
extern "C" __global__ void corners(std::uint64_t const* in, std::uint64_t* out)
{
  auto const bits = in[threadIdx.x];
  auto const f = __uint_as_float(static_cast<unsigned>(bits));
  auto const d = __longlong_as_double(static_cast<long long>(bits));
  auto* const results = out + 12 * threadIdx.x;
  float r = 0;
  double q = 0;
  unsigned u = 0;
  unsigned short h = 0;
  asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(r) : "d"(d));
  results[0] = __float_as_uint(r);
  asm volatile("cvt.f64.f32 %0, %1;" : "=d"(q) : "f"(f));
  results[1] = static_cast<std::uint64_t>(__double_as_longlong(q));
  asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(u) : "f"(f));
  results[2] = u;
  asm volatile("cvt.rzi.s64.f32 %0, %1;" : "=l"(results[3]) : "f"(f));
  asm volatile("cvt.rzi.u32.f64 %0, %1;" : "=r"(u) : "d"(d));
  results[4] = u;
  asm volatile("cvt.rzi.u64.f64 %0, %1;" : "=l"(results[5]) : "d"(d));
  asm volatile("add.rn.f64 %0, %1, %2;" : "=d"(q) : "d"(d), "d"(1.0));
  results[6] = static_cast<std::uint64_t>(__double_as_longlong(q));
  asm volatile("sqrt.rn.f64 %0, %1;" : "=d"(q) : "d"(d));
  results[7] = static_cast<std::uint64_t>(__double_as_longlong(q));
  asm volatile("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
  results[8] = h;
  asm volatile("cvt.f32.bf16 %0, %1;" : "=f"(r) : "h"(static_cast<unsigned short>(bits)));
  results[9] = __float_as_uint(r);
  asm volatile("neg.f32 %0, %1;" : "=f"(r) : "f"(f));
  results[10] = __float_as_uint(r);
  asm volatile("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(f), "f"(0.99999994F));
  results[11] = __float_as_uint(r);
}

// ---- kernels that fail

extern "C" __global__ void write_at(char* address, unsigned offset)
{
  *reinterpret_cast<unsigned*>(address + offset) = threadIdx.x;
}

extern "C" __global__ void endless(unsigned volatile* flag)
{
  while (*flag == 0) {
  }
}

extern "C" __global__ void half_a_barrier()
{
  if (threadIdx.x < 32) __syncthreads();
  if (threadIdx.x >= 32)
    while (true) __nanosleep(10);
}

extern "C" __global__ void stop_itself()
{
  __trap();
}

extern "C" __global__ void write_one_address(unsigned* results)
{
  results[threadIdx.x / 2] = threadIdx.x;
}

/// A barrier orders the two writes: not a race.
extern "C" __global__ void write_in_order(unsigned* results)
{
  if (threadIdx.x == 0) results[0] = 1;
  __syncthreads();
  if (threadIdx.x == 40) results[0] = 2;
}
