// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads wait for each other in loops, as from sm_70: other lanes, other warps and
// other blocks must make progress meanwhile. They run on the reference device and on GPUs. Compiled
// for the oldest architecture, where barriers of libcu++ are loops with atomics;
// tests/cpu/algorithms/waiting.cu has those of sm_90, which are mbarriers.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

namespace {

/// An object of shared memory, which the first thread constructs.
template <typename T>
struct shared_object {
  alignas(T) unsigned char bytes[sizeof(T)];
  __device__ T& operator*() { return *reinterpret_cast<T*>(bytes); }
};

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
using block_latch = cuda::latch<cuda::thread_scope_block>;
using block_flag = cuda::atomic<unsigned, cuda::thread_scope_block>;
using device_semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

}  // namespace

/// The first warp waits for a flag that the second one sets.
extern "C" __global__ void wait_for_warp(unsigned* out)
{
  __shared__ unsigned volatile flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 40) flag = 9;
  if (threadIdx.x < 32)
    while (flag == 0) {
    }
  out[threadIdx.x] = flag;
}

/// out[i] = i + 3: each thread reads its neighbor's number in three rounds.
extern "C" __global__ void meet_at_barrier(unsigned* out)
{
  __shared__ shared_object<block_barrier> storage;
  auto& meeting = *storage;
  if (threadIdx.x == 0) init(&meeting, blockDim.x);
  __syncthreads();
  out[threadIdx.x] = threadIdx.x;
  for (unsigned round = 0; round < 3; ++round) {
    meeting.arrive_and_wait();
    auto const value = out[(threadIdx.x + 1) % blockDim.x];
    meeting.arrive_and_wait();
    out[threadIdx.x] = value;
  }
}

/// out[i] = i + 1.
extern "C" __global__ void meet_at_latch(unsigned* out)
{
  __shared__ shared_object<block_latch> storage;
  if (threadIdx.x == 0) new (storage.bytes) block_latch(blockDim.x);
  __syncthreads();
  __shared__ unsigned values[256];
  values[threadIdx.x] = threadIdx.x;
  (*storage).arrive_and_wait();
  out[threadIdx.x] = values[(threadIdx.x + 1) % blockDim.x];
}

/// The first thread waits for a notification of the last one.
extern "C" __global__ void wait_for_notification(unsigned* out)
{
  __shared__ shared_object<block_flag> storage;
  auto& flag = *storage;
  if (threadIdx.x == 0) new (storage.bytes) block_flag(0);
  __syncthreads();
  if (threadIdx.x == 0) {
    flag.wait(0);
    out[0] = flag.load();
  }
  if (threadIdx.x == blockDim.x - 1) {
    flag.store(7);
    flag.notify_all();
  }
}

__device__ shared_object<device_semaphore> semaphore_storage;

extern "C" __global__ void create_semaphore()
{
  new (semaphore_storage.bytes) device_semaphore(1);
}

/// Every thread of the grid adds 1, one at a time.
extern "C" __global__ void count_with_semaphore(unsigned volatile* out)
{
  (*semaphore_storage).acquire();
  *out = *out + 1;
  (*semaphore_storage).release();
}

/// out[1]: the number of threads of the grid; out[0] is the lock.
extern "C" __global__ void count_with_lock(unsigned* out)
{
  for (bool is_done = false; !is_done;)
    if (atomicCAS(out, 0U, 1U) == 0) {
      __threadfence();
      reinterpret_cast<unsigned volatile*>(out)[1] += 1;
      __threadfence();
      atomicExch(out, 0U);
      is_done = true;
    }
}

/// A barrier of the grid, written by hand: out[1 + block] = the next block's number.
extern "C" __global__ void meet_by_counting(unsigned* out, unsigned* values)
{
  if (threadIdx.x == 0) values[blockIdx.x] = blockIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(out, 1U);
    while (*reinterpret_cast<unsigned volatile*>(out) < gridDim.x) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
    out[1 + blockIdx.x] =
        reinterpret_cast<unsigned volatile*>(values)[(blockIdx.x + 1) % gridDim.x];
}

/// Each block waits for the next one: out[block] = block + 1.
extern "C" __global__ void wait_for_next_block(unsigned volatile* out)
{
  if (threadIdx.x != 0) return;
  if (blockIdx.x + 1 < gridDim.x)
    while (out[blockIdx.x + 1] == 0) {
    }
  __threadfence();
  out[blockIdx.x] = blockIdx.x + 1;
}

/// The lanes of a warp meet at different instructions. 4 numbers for each lane.
extern "C" __global__ void meet_in_branches(unsigned* out)
{
  auto const lane = threadIdx.x;
  auto* const results = out + 4 * lane;
  if (lane % 2 != 0) {
    results[0] = __shfl_xor_sync(~0U, lane * 3, 1);
    results[1] = __ballot_sync(~0U, lane > 3);
    __syncwarp();
    results[2] = __match_any_sync(~0U, lane % 4);
  } else {
    results[0] = __shfl_xor_sync(~0U, lane * 5, 1) + 1000;
    results[1] = __ballot_sync(~0U, lane > 9);
    out[4 * lane + 3] = lane;
    __syncwarp();
    results[2] = __match_any_sync(~0U, lane & 3U);
  }
}

/// out[thread] = the number of the thread after it in the grid. Needs a cooperative launch.
extern "C" __global__ void meet_in_grid(unsigned* out, unsigned* values)
{
  auto const grid = cooperative_groups::this_grid();
  values[global_rank()] = global_rank();
  grid.sync();
  out[global_rank()] =
      reinterpret_cast<unsigned volatile*>(values)[(global_rank() + 1) % grid.size()];
}
