// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other: barriers, latches and semaphores of libcu++, and a named
// barrier.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

namespace {

/// An object that is constructed by a thread, in shared or global memory.
template <typename T>
struct storage_of {
  alignas(T) unsigned char bytes[sizeof(T)];
  template <typename... Arguments>
  __device__ void construct(Arguments... arguments)
  {
    new (bytes) T(arguments...);
  }
  __device__ T& operator*() { return *reinterpret_cast<T*>(bytes); }
};

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
using block_latch = cuda::latch<cuda::thread_scope_block>;
using block_atomic = cuda::atomic<unsigned, cuda::thread_scope_block>;
using block_semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 3>;
using device_barrier = cuda::barrier<cuda::thread_scope_device>;

}  // namespace

/// The first warp fills a buffer of 32 numbers, the second one adds them up, `rounds` times; two
/// barriers tell that the buffer is full and that it is empty.
extern "C" __global__ void produce_and_consume(unsigned* out, unsigned const* in, unsigned rounds)
{
  __shared__ unsigned buffer[32];
  __shared__ storage_of<block_barrier> storage[2];
  auto& full = *storage[0];
  auto& empty = *storage[1];
  if (threadIdx.x == 0) {
    init(&full, 64);
    init(&empty, 64);
  }
  __syncthreads();
  auto const lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (unsigned round = 0; round < rounds; ++round) {
      buffer[lane] = in[32 * round + lane];
      (void)full.arrive();
      empty.arrive_and_wait();
    }
  } else {
    unsigned sum = 0;
    for (unsigned round = 0; round < rounds; ++round) {
      full.arrive_and_wait();
      sum += buffer[31 - lane];
      (void)empty.arrive();
    }
    out[lane] = sum;
  }
}

/// A thread of every round leaves the barrier for good: out[i] = rounds that thread i took part in.
extern "C" __global__ void drop_out(unsigned* out)
{
  __shared__ storage_of<block_barrier> storage;
  __shared__ unsigned arrivals[64];
  auto& barrier = *storage;
  arrivals[threadIdx.x] = 0;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  unsigned round = 0;
  for (; round < threadIdx.x; ++round) {
    atomicAdd(arrivals + round, 1U);
    barrier.arrive_and_wait();
  }
  barrier.arrive_and_drop();
  out[threadIdx.x] = round;
  __syncthreads();
  out[blockDim.x + threadIdx.x] = arrivals[threadIdx.x];
}

/// Blocks meet at a barrier in global memory, which the first launch constructs.
__device__ storage_of<device_barrier> meeting;

extern "C" __global__ void create_meeting(unsigned blocks)
{
  init(&*meeting, static_cast<int>(blocks));
}

extern "C" __global__ void meet_on_device(unsigned* out)
{
  if (threadIdx.x != 0) return;
  out[blockIdx.x] = blockIdx.x;
  (*meeting).arrive_and_wait();
  auto const next = __ldcg(out + (blockIdx.x + 1) % gridDim.x);
  (*meeting).arrive_and_wait();
  out[blockIdx.x] = next;
}

/// Three warps prepare a table each; all threads read it after the latch.
extern "C" __global__ void wait_for_tables(unsigned* out)
{
  __shared__ storage_of<block_latch> storage;
  __shared__ unsigned tables[3];
  if (threadIdx.x == 0) storage.construct(3);
  __syncthreads();
  auto& latch = *storage;
  if (threadIdx.x % 32 == 0 && threadIdx.x < 96) {
    tables[threadIdx.x / 32] = threadIdx.x + 1;
    latch.count_down();
  }
  latch.wait();
  out[threadIdx.x] = tables[0] + tables[1] + tables[2];
}

/// At most 3 threads are inside: out[0] = the largest number seen, out[1] = all that were inside.
extern "C" __global__ void limit_with_semaphore(unsigned* out)
{
  __shared__ storage_of<block_semaphore> storage;
  __shared__ unsigned inside;
  if (threadIdx.x == 0) {
    storage.construct(3);
    inside = 0;
  }
  __syncthreads();
  auto& semaphore = *storage;
  semaphore.acquire();
  atomicMax(out, atomicAdd(&inside, 1U) + 1);
  __nanosleep(100);
  atomicSub(&inside, 1U);
  atomicAdd(out + 1, 1U);
  semaphore.release();
}

/// Two warps hand a number to and fro with wait and notify: out[0] = 2 * rounds.
extern "C" __global__ void ping_pong(unsigned* out, unsigned rounds)
{
  __shared__ storage_of<block_atomic> storage;
  if (threadIdx.x == 0) storage.construct(0U);
  __syncthreads();
  auto& ball = *storage;
  if (threadIdx.x % 32 != 0) return;
  auto const own = threadIdx.x / 32;
  for (unsigned round = 0; round < rounds; ++round) {
    while (ball.load() % 2 != own) ball.wait(2 * round + own - 1);
    ball.fetch_add(1);
    ball.notify_all();
  }
  if (own == 1) out[0] = ball.load();
}

/// Atomic references: floats and doubles are added, and their extremes found; the operands are
/// whole numbers, so that sums are exact.
extern "C" __global__ void atomic_references(float* floats, double* doubles, int* wholes,
                                             int const* in)
{
  auto const value = in[blockIdx.x * blockDim.x + threadIdx.x];
  cuda::atomic_ref<float, cuda::thread_scope_device>(floats[0]).fetch_add(value);
  cuda::atomic_ref<float, cuda::thread_scope_device>(floats[1]).fetch_max(value);
  cuda::atomic_ref<float, cuda::thread_scope_device>(floats[2]).fetch_min(value);
  cuda::atomic_ref<double, cuda::thread_scope_device>(doubles[0]).fetch_sub(value);
  cuda::atomic_ref<double, cuda::thread_scope_device>(doubles[1]).fetch_max(value);
  cuda::atomic_ref<double, cuda::thread_scope_device>(doubles[2]).fetch_min(value);
  cuda::atomic_ref<int, cuda::thread_scope_device> counter(wholes[0]);
  counter.fetch_add(value, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device>(wholes[1]).fetch_max(value);
  cuda::atomic_ref<int, cuda::thread_scope_device>(wholes[2]).fetch_xor(value);
  int expected = 0;
  cuda::atomic_ref<int, cuda::thread_scope_device> product(wholes[3]);
  while (!product.compare_exchange_weak(expected, expected * 3 + 1)) {
  }
}

/// The second warp reads what the first one wrote before it arrived at a barrier of these two;
/// the third one takes no part.
extern "C" __global__ void meet_at_named_barrier(unsigned* out, unsigned const* in)
{
  __shared__ unsigned values[32];
  auto const lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    values[lane] = in[lane];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else if (threadIdx.x < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[lane] = values[31 - lane];
  }
}
