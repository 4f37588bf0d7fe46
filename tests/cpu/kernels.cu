// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads work together, or go wrong. Run on the reference device and on GPUs
// alike: results are whole numbers, so that no order of addition shows.
#include <cassert>
#include <cstdint>
#include <cstdio>

constexpr unsigned k_block = 256;

__device__ unsigned counters[3] = {1, 20, 300};
__device__ unsigned* second_counter = &counters[1];

/// out[block] = the sum of the block's part of in. Shared memory and barriers.
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

/// out: 8 numbers a thread, of everything lanes tell each other.
extern "C" __global__ void warp_exchange(unsigned const* in, unsigned* out)
{
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  auto const mine = in[i];
  auto* const to = out + std::size_t{8} * i;
  to[0] = __shfl_xor_sync(~0U, mine, 5);
  to[1] = __shfl_up_sync(~0U, mine, 3);
  to[2] = __shfl_down_sync(~0U, mine, 7, 8);
  to[3] = __shfl_sync(~0U, mine, mine & 31U, 16);
  to[4] = __ballot_sync(~0U, mine % 3 == 0);
  to[5] = __reduce_add_sync(~0U, mine) ^ __reduce_max_sync(~0U, mine);
  to[6] = __match_any_sync(~0U, mine % 7);
  if (mine % 2 == 0)
    to[7] = __popc(__activemask()) * 100 + __any_sync(__activemask(), mine > 90);
  else
    to[7] = __all_sync(__activemask(), mine > 5) + 1000 * __reduce_min_sync(__activemask(), mine);
}

/// sums: 8 cells that every thread of every block changes.
extern "C" __global__ void atomics(unsigned const* in, unsigned* cells, unsigned count)
{
  __shared__ unsigned of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    auto const mine = in[i];
    atomicAdd(cells + 0, mine);
    atomicMax(cells + 1, mine);
    atomicXor(cells + 2, mine * 0x9E3779B9U);
    atomicInc(cells + 3, 1000U);
    atomicAdd(reinterpret_cast<float*>(cells) + 4, 1.0F);
    atomicAdd(reinterpret_cast<unsigned long long*>(cells + 6), 1ULL << 20);
    atomicAdd(&of_block, mine);
    unsigned seen = cells[5];
    while (true) {  // a sum by compare and swap
      auto const was = atomicCAS(cells + 5, seen, seen + mine);
      if (was == seen) break;
      seen = was;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(second_counter, of_block);
}

/// out[0..2] = the counters, after atomics.
extern "C" __global__ void read_counters(unsigned* out)
{
  out[threadIdx.x] = counters[threadIdx.x];
}

/// Each thread waits for the one before it: progress of threads that branched apart.
extern "C" __global__ void in_turn(unsigned volatile* turn, unsigned* order)
{
  auto const me = threadIdx.x;
  bool done = false;
  while (!done)
    if (*turn == me) {
      order[me] = me * 2;
      *turn = me + 1;
      done = true;
    }
}

/// out[i] = how many of the block's threads have an odd index, by each kind of bar.red.
extern "C" __global__ void barrier_votes(unsigned* out)
{
  auto const odd = static_cast<int>(threadIdx.x & 1U);
  auto const votes = __syncthreads_count(odd);
  auto const all = __syncthreads_and(odd);
  auto const any = __syncthreads_or(odd);
  out[threadIdx.x] = static_cast<unsigned>(votes * 10 + all * 2 + any);
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

/// Dynamic shared memory, in reverse.
extern "C" __global__ void reverse(unsigned const* in, unsigned* out)
{
  extern __shared__ unsigned held[];
  held[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void say(unsigned value)
{
  printf("%s %u %5.2f|%-4d|%c%%|%llx\n", "thread", threadIdx.x, value * 0.5, -3, 'z',
         0x123456789ULL);
  assert(value != 13);
}

/// 12 results for each input, of conversions and arithmetic whose corner cases the PTX ISA leaves
/// open or says in passing.
extern "C" __global__ void corners(std::uint64_t const* in, std::uint64_t* out)
{
  auto const bits = in[threadIdx.x];
  auto const f = __uint_as_float(static_cast<unsigned>(bits));
  auto const d = __longlong_as_double(static_cast<long long>(bits));
  auto* const to = out + 12 * threadIdx.x;
  float r = 0;
  double q = 0;
  unsigned u = 0;
  unsigned short h = 0;
  asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(r) : "d"(d));
  to[0] = __float_as_uint(r);
  asm volatile("cvt.f64.f32 %0, %1;" : "=d"(q) : "f"(f));
  to[1] = static_cast<std::uint64_t>(__double_as_longlong(q));
  asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(u) : "f"(f));
  to[2] = u;
  asm volatile("cvt.rzi.s64.f32 %0, %1;" : "=l"(to[3]) : "f"(f));
  asm volatile("cvt.rzi.u32.f64 %0, %1;" : "=r"(u) : "d"(d));
  to[4] = u;
  asm volatile("cvt.rzi.u64.f64 %0, %1;" : "=l"(to[5]) : "d"(d));
  asm volatile("add.rn.f64 %0, %1, %2;" : "=d"(q) : "d"(d), "d"(1.0));
  to[6] = static_cast<std::uint64_t>(__double_as_longlong(q));
  asm volatile("sqrt.rn.f64 %0, %1;" : "=d"(q) : "d"(d));
  to[7] = static_cast<std::uint64_t>(__double_as_longlong(q));
  asm volatile("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
  to[8] = h;
  asm volatile("cvt.f32.bf16 %0, %1;" : "=f"(r) : "h"(static_cast<unsigned short>(bits)));
  to[9] = __float_as_uint(r);
  asm volatile("neg.f32 %0, %1;" : "=f"(r) : "f"(f));
  to[10] = __float_as_uint(r);
  asm volatile("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(f), "f"(0.99999994F));
  to[11] = __float_as_uint(r);
}

// ---- what goes wrong

extern "C" __global__ void write_at(char* where, unsigned offset)
{
  *reinterpret_cast<unsigned*>(where + offset) = threadIdx.x;
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

extern "C" __global__ void write_one_address(unsigned* to)
{
  to[threadIdx.x / 2] = threadIdx.x;
}

/// Ordered by a barrier, so no race.
extern "C" __global__ void write_in_order(unsigned* to)
{
  if (threadIdx.x == 0) to[0] = 1;
  __syncthreads();
  if (threadIdx.x == 40) to[0] = 2;
}
