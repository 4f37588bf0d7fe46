// SPDX-License-Identifier: Apache-2.0
// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

namespace {

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

}  // namespace

/// 6 numbers for each thread: reductions of its warp, and of its part of 4 lanes.
extern "C" __global__ void group_reduce(unsigned* out, unsigned const* in)
{
  auto const block = cg::this_thread_block();
  auto const warp = cg::tiled_partition<32>(block);
  auto const part = cg::tiled_partition<4>(warp);
  auto const value = in[global_rank()];
  auto* const results = out + 6 * global_rank();
  results[0] = cg::reduce(warp, value, cg::plus<unsigned>());
  results[1] = cg::reduce(warp, value, cg::bit_xor<unsigned>());
  results[2] = static_cast<unsigned>(cg::reduce(warp, static_cast<int>(value), cg::less<int>()));
  results[3] = cg::reduce(part, value, cg::greater<unsigned>());
  results[4] = cg::reduce(part, value, [](unsigned a, unsigned b) { return a | b; });
  results[5] =
      __float_as_uint(cg::reduce(part, static_cast<float>(value & 0xFFFFU), cg::plus<float>()));
}

/// 4 numbers for each thread: scans of its warp and of its part of 8 lanes.
extern "C" __global__ void group_scan(unsigned* out, unsigned const* in)
{
  auto const warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto const part = cg::tiled_partition<8>(cg::this_thread_block());
  auto const value = in[global_rank()];
  auto* const results = out + 4 * global_rank();
  results[0] = cg::inclusive_scan(warp, value);
  results[1] = cg::exclusive_scan(warp, value);
  results[2] = cg::inclusive_scan(part, value, cg::greater<unsigned>());
  results[3] = cg::exclusive_scan(part, value, cg::bit_xor<unsigned>());
}

/// 8 numbers for each thread: what its part of 16 lanes says of itself, exchanges and votes.
extern "C" __global__ void group_tiles(unsigned* out, unsigned const* in)
{
  auto const tile = cg::tiled_partition<16>(cg::this_thread_block());
  auto const value = in[global_rank()];
  auto* const results = out + 8 * global_rank();
  results[0] = tile.thread_rank() + 100 * tile.meta_group_rank() + 10000 * tile.meta_group_size();
  results[1] = tile.shfl(value, 3);
  results[2] = tile.shfl_down(value, 2);
  results[3] = tile.shfl_up(value, 1);
  results[4] = tile.shfl_xor(value, 9);
  results[5] = tile.ballot(value % 3 == 0);
  results[6] = tile.match_any(value % 4);
  results[7] = tile.any(value % 16 == 0) + 2 * tile.all(value % 7 != 0);
}

/// Counts the multiples of 3 with one atomic operation for each group of active threads; out[0]:
/// their number, then their positions.
extern "C" __global__ void group_coalesced(unsigned* out, unsigned const* in)
{
  if (in[global_rank()] % 3 != 0) return;
  auto const active = cg::coalesced_threads();
  unsigned first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(out, active.size());
  out[1 + active.shfl(first, 0) + active.thread_rank()] = global_rank();
}

/// 3 numbers for each thread: its group of equal values, and the sum of its ranks.
extern "C" __global__ void group_labels(unsigned* out, unsigned const* in)
{
  auto const warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto const group = cg::labeled_partition(warp, in[global_rank()] % 5);
  auto* const results = out + 3 * global_rank();
  results[0] = group.size();
  results[1] = group.thread_rank();
  results[2] = cg::reduce(group, warp.thread_rank(), cg::plus<unsigned>());
}

/// 3 numbers for each thread: its half of a split in two.
extern "C" __global__ void group_halves(unsigned* out, unsigned const* in)
{
  auto const warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto const is_odd = in[global_rank()] % 2 != 0;
  auto const group = cg::binary_partition(warp, is_odd);
  auto* const results = out + 3 * global_rank();
  results[0] = group.size();
  results[1] = cg::exclusive_scan(group, in[global_rank()], cg::plus<unsigned>());
  results[2] = is_odd ? group.shfl(in[global_rank()], group.size() - 1) : group.any(is_odd);
}

/// Groups of 64 threads, which consist of two warps: the sum of the group, for each thread.
extern "C" __global__ void group_of_warps(unsigned* out, unsigned const* in)
{
  __shared__ cg::block_tile_memory<256> memory;
  auto const block = cg::this_thread_block(memory);
  auto const group = cg::tiled_partition<64>(block);
  auto const sum = cg::reduce(group, in[global_rank()], cg::plus<unsigned>());
  group.sync();
  out[2 * global_rank()] = sum;
  out[2 * global_rank() + 1] = group.shfl(in[global_rank()], 45);
}

/// Each thread reads what the next one wrote before the split barrier.
extern "C" __global__ void group_barrier(unsigned* out, unsigned const* in)
{
  __shared__ unsigned values[256];
  auto const block = cg::this_thread_block();
  values[block.thread_rank()] = in[global_rank()];
  auto token = block.barrier_arrive();
  auto const own = in[global_rank()] * 3;
  block.barrier_wait(cuda::std::move(token));
  out[global_rank()] = values[(block.thread_rank() + 1) % block.size()] + own;
}

/// out = the block's part of `in` reversed; copied to shared memory in the background, in two
/// halves.
extern "C" __global__ void group_copy(unsigned* out, unsigned const* in)
{
  extern __shared__ uint4 storage[];
  auto* const values = reinterpret_cast<unsigned*>(storage);
  auto const block = cg::this_thread_block();
  auto const count = block.size();
  auto const* const part = in + 2 * count * blockIdx.x;
  cg::memcpy_async(block, values, part, sizeof(unsigned) * count);
  cg::memcpy_async(block, values + count, part + count,
                   cuda::aligned_size_t<16>(sizeof(unsigned) * count));
  cg::wait_prior<1>(block);
  auto const first = values[count - 1 - block.thread_rank()];
  cg::wait(block);
  auto* const results = out + 2 * count * blockIdx.x;
  results[block.thread_rank()] = values[2 * count - 1 - block.thread_rank()];
  results[count + block.thread_rank()] = first;
}

/// Jacobi steps of the whole grid: each value becomes the sum of its neighbors, `steps` times.
/// Needs a cooperative launch.
extern "C" __global__ void grid_steps(unsigned* values, unsigned* others, unsigned steps)
{
  auto const grid = cg::this_grid();
  auto const count = static_cast<unsigned>(grid.size());
  auto const i = static_cast<unsigned>(grid.thread_rank());
  for (unsigned step = 0; step < steps; ++step) {
    auto const* const from = step % 2 == 0 ? values : others;
    auto* const into = step % 2 == 0 ? others : values;
    into[i] = __ldcg(from + (i + 1) % count) + __ldcg(from + (i + count - 1) % count);
    grid.sync();
  }
}

/// A histogram of 64 kinds in the shared memory of a cluster of 2 blocks: 32 kinds in each.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    cluster_histogram(unsigned* out, unsigned const* in, unsigned count)
{
  __shared__ unsigned kinds[32];
  auto const cluster = cg::this_cluster();
  if (threadIdx.x < 32) kinds[threadIdx.x] = 0;
  cluster.sync();
  for (auto i = global_rank(); i < count; i += gridDim.x * blockDim.x) {
    auto const kind = in[i] % 64;
    atomicAdd(cluster.map_shared_rank(kinds, static_cast<int>(kind / 32)) + kind % 32, 1U);
  }
  cluster.sync();
  if (threadIdx.x < 32)
    atomicAdd(out + 32 * cluster.block_rank() + threadIdx.x, kinds[threadIdx.x]);
}

/// Blocks of a cluster add up their numbers in the first one's shared memory: the sum plus the rank
/// of the block.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(unsigned* out, unsigned const* in)
{
  __shared__ unsigned sum;
  auto const cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&sum, 0), in[global_rank()]);
  cluster.sync();
  auto const value = *cluster.map_shared_rank(&sum, 0) + cluster.query_shared_rank(&sum);
  out[global_rank()] = value;
  cluster.sync();
}
