// SPDX-License-Identifier: Apache-2.0
// Kernels of cooperative groups, libcu++ and nvcuda::wmma: asynchronous copies, pipelines, barriers
// that count bytes, matrices, clusters. They run on the reference device and on GPUs.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <mma.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

// Shared objects are constructed by their users.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace groups = cooperative_groups;

namespace {

constexpr unsigned k_block = 64;

template <typename T>
struct shared_object {
  alignas(T) unsigned char bytes[sizeof(T)];
  __device__ T& operator*() { return *reinterpret_cast<T*>(bytes); }
};

}  // namespace

/// Copies a block's values with cooperative_groups::memcpy_async; each thread reads another's.
extern "C" __global__ void copy_with_groups(unsigned* out, unsigned* values)
{
  __shared__ unsigned data[k_block];
  auto const block = groups::this_thread_block();
  groups::memcpy_async(block, data, values + blockIdx.x * k_block, sizeof data);
  groups::wait(block);
  out[blockIdx.x * k_block + threadIdx.x] = data[k_block - 1 - threadIdx.x];
}

/// Copies with cuda::memcpy_async, whose bytes a cuda::barrier counts.
extern "C" __global__ void copy_with_barrier(unsigned* out, unsigned* values)
{
  using block_barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) unsigned data[k_block];
  __shared__ shared_object<block_barrier> barrier;
  auto const block = groups::this_thread_block();
  if (threadIdx.x == 0) init(&*barrier, k_block);
  block.sync();
  for (unsigned round = 0; round < 3; ++round) {
    cuda::memcpy_async(block, data, values + round * k_block, cuda::aligned_size_t<16>(sizeof data),
                       *barrier);
    (*barrier).arrive_and_wait();
    out[round * k_block + threadIdx.x] = data[k_block - 1 - threadIdx.x];
    block.sync();
  }
}

/// Sums rows of values through a pipeline of two stages.
extern "C" __global__ void sum_through_pipeline(unsigned* out, unsigned* values)
{
  constexpr unsigned k_stages = 2;
  constexpr unsigned k_rows = 8;
  __shared__ unsigned data[k_stages][k_block];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, k_stages> state;
  auto const block = groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  unsigned sum = 0;
  for (unsigned row = 0, fetched = 0; row < k_rows; ++row) {
    for (; fetched < k_rows && fetched < row + k_stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, data[fetched % k_stages], values + fetched * k_block,
                         sizeof(unsigned) * k_block, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += data[row % k_stages][k_block - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

/// As above, with a pipeline of each thread.
extern "C" __global__ void sum_through_thread_pipeline(unsigned* out, unsigned* values)
{
  __shared__ unsigned data[2][k_block];
  auto pipeline = cuda::make_pipeline();
  unsigned sum = 0;
  auto const fetch = [&](unsigned row) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&data[row % 2][threadIdx.x], values + row * k_block + threadIdx.x,
                       cuda::aligned_size_t<4>(4), pipeline);
    pipeline.producer_commit();
  };
  fetch(0);
  for (unsigned row = 0; row < 8; ++row) {
    if (row + 1 < 8) {
      fetch(row + 1);
      cuda::pipeline_consumer_wait_prior<1>(pipeline);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipeline);
    }
    sum += data[row % 2][threadIdx.x];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

/// One thread starts a bulk copy; all wait for its bytes. The result goes back with another one.
extern "C" __global__ void copy_in_bulk(unsigned* out, unsigned* values)
{
  using block_barrier = cuda::barrier<cuda::thread_scope_block>;
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

/// The product of two 16 x 16 matrices: A of halves by rows from `values` modulo 8, B the same by
/// columns.
extern "C" __global__ void multiply_halves(unsigned* out, unsigned* values)
{
  using namespace nvcuda;
  __shared__ half a[256];
  __shared__ half b[256];
  __shared__ float c[256];
  for (unsigned i = threadIdx.x; i < 256; i += 32) {
    a[i] = __float2half(static_cast<float>(values[i] % 8));
    b[i] = __float2half(static_cast<float>(values[i] % 5) - 2.0F);
  }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_part;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_part;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0F);
  wmma::load_matrix_sync(a_part, a, 16);
  wmma::load_matrix_sync(b_part, b, 16);
  wmma::mma_sync(sum, a_part, b_part, sum);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (unsigned i = threadIdx.x; i < 256; i += 32)
    out[i] = static_cast<unsigned>(static_cast<int>(c[i]));
}

/// Blocks of a cluster add up their numbers in the first one's shared memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sum_in_cluster(unsigned* out, unsigned* values)
{
  __shared__ unsigned sum;
  auto const cluster = groups::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&sum, 0), values[blockIdx.x * blockDim.x + threadIdx.x]);
  cluster.sync();
  auto const value = *cluster.map_shared_rank(&sum, 0) + cluster.query_shared_rank(&sum);
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
  cluster.sync();
}

/// Sums of tiles of 8 threads, and of the threads with the same remainder by 3.
extern "C" __global__ void reduce_tiles(unsigned* out, unsigned* values)
{
  auto const block = groups::this_thread_block();
  auto const tile = groups::tiled_partition<8>(block);
  auto const value = values[threadIdx.x];
  auto const warp = groups::tiled_partition<32>(block);
  auto const part = groups::labeled_partition(warp, static_cast<int>(threadIdx.x % 3));
  out[threadIdx.x] = groups::reduce(tile, value, groups::plus<unsigned>());
  out[threadIdx.x + k_block] = groups::reduce(part, value, groups::plus<unsigned>());
}
