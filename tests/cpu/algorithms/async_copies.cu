// SPDX-License-Identifier: Apache-2.0
// Copies to shared memory in the background: barriers and pipelines of libcu++ that wait for them,
// and bulk copies, whose bytes a barrier counts.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

namespace cg = cooperative_groups;

namespace {

/// An object of shared memory, which its users construct.
template <typename T>
struct shared_object {
  alignas(T) unsigned char bytes[sizeof(T)];
  __device__ T& operator*() { return *reinterpret_cast<T*>(bytes); }
};

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr unsigned k_block = 64;

}  // namespace

/// Each block sums up its two parts of `in`, which arrive in shared memory one after the other in
/// the background, at a barrier.
extern "C" __global__ void copy_to_barrier(unsigned* out, unsigned const* in)
{
  __shared__ alignas(16) unsigned values[256];
  __shared__ shared_object<block_barrier> storage;
  auto const block = cg::this_thread_block();
  auto& barrier = *storage;
  if (block.thread_rank() == 0) init(&barrier, static_cast<int>(block.size()));
  block.sync();
  unsigned sum = 0;
  for (unsigned round = 0; round < 2; ++round) {
    auto const* const part = in + 256 * (2 * blockIdx.x + round);
    cuda::memcpy_async(block, values, part, cuda::aligned_size_t<16>(512), barrier);
    cuda::memcpy_async(block, values + 128, part + 128, 512, barrier);
    barrier.arrive_and_wait();
    for (auto i = threadIdx.x; i < 256; i += blockDim.x) sum += values[i] * (i + 1);
    block.sync();
  }
  atomicAdd(out + blockIdx.x, sum);
}

/// Sums up `batches` parts of `in` while the next 3 parts arrive: 4 stages that a block shares.
extern "C" __global__ void pipeline_of_block(unsigned* out, unsigned const* in, unsigned batches)
{
  constexpr unsigned k_stages = 4;
  constexpr unsigned k_batch = 64;
  __shared__ alignas(16) unsigned values[k_stages][k_batch];
  __shared__ shared_object<cuda::pipeline_shared_state<cuda::thread_scope_block, k_stages>> state;
  auto const block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &*state);
  unsigned sum = 0;
  unsigned fetched = 0;
  for (unsigned batch = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + k_stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, values[fetched % k_stages], in + k_batch * fetched,
                         cuda::aligned_size_t<4>(4 * k_batch), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += values[batch % k_stages][k_batch - 1 - threadIdx.x] * (batch + 1);
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

/// The same with the pipeline of each thread, which copies for itself: 2 stages.
extern "C" __global__ void pipeline_of_thread(unsigned* out, unsigned const* in, unsigned batches)
{
  __shared__ alignas(16) uint4 values[2][64];
  auto pipeline = cuda::make_pipeline();
  auto const* const vectors = reinterpret_cast<uint4 const*>(in);
  auto const fetch = [&](unsigned batch) {
    pipeline.producer_acquire();
    if (batch < batches)
      cuda::memcpy_async(&values[batch % 2][threadIdx.x], vectors + 64 * batch + threadIdx.x,
                         cuda::aligned_size_t<16>(16), pipeline);
    pipeline.producer_commit();
  };
  fetch(0);
  unsigned sum = 0;
  for (unsigned batch = 0; batch < batches; ++batch) {
    fetch(batch + 1);
    cuda::pipeline_consumer_wait_prior<1>(pipeline);
    auto const value = values[batch % 2][threadIdx.x];
    sum += value.x + 2 * value.y + 3 * value.z + 4 * value.w;
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

/// Half of the block fetches, half computes (a partitioned pipeline).
extern "C" __global__ void pipeline_of_roles(unsigned* out, unsigned const* in, unsigned batches)
{
  constexpr unsigned k_stages = 2;
  __shared__ unsigned values[k_stages][32];
  __shared__ shared_object<cuda::pipeline_shared_state<cuda::thread_scope_block, k_stages>> state;
  auto const block = cg::this_thread_block();
  auto const is_producer = threadIdx.x < 32;
  auto pipeline = cuda::make_pipeline(
      block, &*state, is_producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  auto const lane = threadIdx.x % 32;
  unsigned sum = 0;
  for (unsigned batch = 0; batch < batches; ++batch) {
    if (is_producer) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&values[batch % k_stages][lane], in + 32 * batch + lane, sizeof(unsigned),
                         pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      sum = 3 * sum + values[batch % k_stages][31 - lane];
      pipeline.consumer_release();
    }
  }
  if (!is_producer) out[lane] = sum;
}

/// One thread starts a bulk copy; all wait for its bytes. The result goes back with another one.
extern "C" __global__ void copy_in_bulk(unsigned* out, unsigned const* values)
{
  __shared__ alignas(16) unsigned data[k_block];
  __shared__ shared_object<block_barrier> barrier;
  if (threadIdx.x == 0) {
    init(&*barrier, k_block);
    cuda::device::memcpy_async_tx(data, values, cuda::aligned_size_t<16>(sizeof data), *barrier);
  }
  __syncthreads();
  block_barrier::arrival_token token;
  if (threadIdx.x == 0)
    token = cuda::device::barrier_arrive_tx(*barrier, 1, sizeof data);
  else
    token = (*barrier).arrive();
  (*barrier).wait(std::move(token));
  data[threadIdx.x] += 1;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, data,
                           sizeof data);
  cuda::ptx::cp_async_bulk_commit_group();
  cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
}
