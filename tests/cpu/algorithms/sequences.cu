// SPDX-License-Identifier: Apache-2.0
// Sums, sorts and histograms of a block, written by hand.

namespace {

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ void exchange(unsigned& a, unsigned& b, bool is_rising)
{
  if ((a > b) != is_rising) return;
  auto const other = a;
  a = b;
  b = other;
}

}  // namespace

/// Sums before each item, up and down a tree; two items for each thread, in dynamic shared memory.
extern "C" __global__ void scan_of_tree(unsigned* out, unsigned const* in)
{
  extern __shared__ unsigned tree[];
  auto const count = 2 * blockDim.x;
  auto const thread = threadIdx.x;
  auto const first = count * blockIdx.x;
  tree[2 * thread] = in[first + 2 * thread];
  tree[2 * thread + 1] = in[first + 2 * thread + 1];
  unsigned step = 1;
  for (auto nodes = blockDim.x; nodes > 0; nodes /= 2, step *= 2) {
    __syncthreads();
    if (thread < nodes) tree[step * (2 * thread + 2) - 1] += tree[step * (2 * thread + 1) - 1];
  }
  if (thread == 0) tree[count - 1] = 0;
  for (unsigned nodes = 1; nodes < count; nodes *= 2) {
    step /= 2;
    __syncthreads();
    if (thread < nodes) {
      auto& left = tree[step * (2 * thread + 1) - 1];
      auto& right = tree[step * (2 * thread + 2) - 1];
      auto const sum = left;
      left = right;
      right += sum;
    }
  }
  __syncthreads();
  out[first + 2 * thread] = tree[2 * thread];
  out[first + 2 * thread + 1] = tree[2 * thread + 1];
}

/// The sum of the grid: shuffles in the warp, shared memory between warps, one atomic operation.
extern "C" __global__ void sum_by_shuffles(unsigned* out, unsigned const* in, unsigned count)
{
  __shared__ unsigned sums[32];
  unsigned sum = 0;
  for (auto i = global_rank(); i < count; i += gridDim.x * blockDim.x) sum += in[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0U, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
  sum = __reduce_add_sync(~0U, sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

/// The sum of each block of 256 threads; the last warp adds up without barriers of the block.
extern "C" __global__ void sum_with_warp_tail(unsigned* out, unsigned const* in)
{
  __shared__ unsigned sums[256];
  auto const thread = threadIdx.x;
  sums[thread] = in[global_rank()];
  __syncthreads();
  for (unsigned half = 128; half >= 32; half /= 2) {
    if (thread < half) sums[thread] += sums[thread + half];
    __syncthreads();
  }
  if (thread >= 32) return;
  auto value = sums[thread];
  for (unsigned half = 16; half > 0; half /= 2) {
    __syncwarp();
    auto const other = thread < half ? sums[thread + half] : 0;
    __syncwarp();
    sums[thread] = value += other;
  }
  if (thread == 0) out[blockIdx.x] = value;
}

/// Sorts 512 keys for each block of 256 threads (bitonic sort).
extern "C" __global__ void bitonic_sort(unsigned* out, unsigned const* in)
{
  __shared__ unsigned keys[512];
  auto const* const part = in + 512 * blockIdx.x;
  keys[threadIdx.x] = part[threadIdx.x];
  keys[threadIdx.x + 256] = part[threadIdx.x + 256];
  for (unsigned size = 2; size <= 512; size *= 2)
    for (auto stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      auto const i = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      exchange(keys[i], keys[i + stride], (i & size) == 0);
    }
  __syncthreads();
  out[512 * blockIdx.x + threadIdx.x] = keys[threadIdx.x];
  out[512 * blockIdx.x + threadIdx.x + 256] = keys[threadIdx.x + 256];
}

/// A step of an odd-even merge sorting network in global memory: the host launches all of them.
extern "C" __global__ void network_step(unsigned* keys, unsigned size, unsigned stride)
{
  auto const rank = global_rank();
  auto const i = 2 * rank - (rank & (stride - 1));
  if (stride == size / 2)
    exchange(keys[i], keys[i + stride], true);
  else if ((rank & (size / 2 - 1)) >= stride)
    exchange(keys[i - stride], keys[i], true);
}

/// Each warp sorts 32 keys in registers by exchanging lanes.
extern "C" __global__ void sort_in_registers(unsigned* out, unsigned const* in)
{
  auto key = in[global_rank()];
  auto const lane = threadIdx.x % 32;
  for (unsigned size = 2; size <= 32; size *= 2)
    for (auto stride = size / 2; stride > 0; stride /= 2) {
      auto const other = __shfl_xor_sync(~0U, key, static_cast<int>(stride));
      auto const keeps_smaller = ((lane & stride) == 0) == ((lane & size) == 0);
      key = keeps_smaller ? min(key, other) : max(key, other);
    }
  out[global_rank()] = key;
}

/// Splits 256 keys of a block by one bit after the other, with votes (radix sort of 12 bits).
extern "C" __global__ void sort_by_votes(unsigned* out, unsigned const* in)
{
  __shared__ unsigned keys[256];
  __shared__ unsigned zeros[8];
  auto const lane = threadIdx.x % 32;
  keys[threadIdx.x] = in[global_rank()];
  for (unsigned bit = 0; bit < 12; ++bit) {
    __syncthreads();
    auto const key = keys[threadIdx.x];
    auto const is_zero = (key >> bit & 1U) == 0;
    auto const votes = __ballot_sync(~0U, is_zero);
    if (lane == 0) zeros[threadIdx.x / 32] = __popc(votes);
    __syncthreads();
    unsigned before = __popc(votes & ((1U << lane) - 1));
    unsigned total = 0;
    for (unsigned warp = 0; warp < 8; ++warp) {
      if (warp < threadIdx.x / 32) before += zeros[warp];
      total += zeros[warp];
    }
    keys[is_zero ? before : total + threadIdx.x - before] = key;
  }
  __syncthreads();
  out[global_rank()] = keys[threadIdx.x];
}

/// Counts 256 kinds of bytes: each block in shared memory, then in global memory.
extern "C" __global__ void histogram(unsigned* out, unsigned char const* in, unsigned count)
{
  __shared__ unsigned kinds[256];
  kinds[threadIdx.x] = 0;
  __syncthreads();
  for (auto i = global_rank(); i < count; i += gridDim.x * blockDim.x) atomicAdd(kinds + in[i], 1U);
  __syncthreads();
  atomicAdd(out + threadIdx.x, kinds[threadIdx.x]);
}

/// A histogram with one atomic operation for each group of equal values of a warp.
extern "C" __global__ void histogram_of_matches(unsigned* out, unsigned const* in)
{
  auto const value = in[global_rank()];
  auto const peers = __match_any_sync(~0U, value);
  if (threadIdx.x % 32 == __ffs(static_cast<int>(peers)) - 1) atomicAdd(out + value, __popc(peers));
}

/// Matches of brackets: the depth at each position, and the lowest depth in out[count].
extern "C" __global__ void bracket_depth(int* out, char const* text)
{
  __shared__ int depths[256];
  auto const thread = threadIdx.x;
  depths[thread] = text[thread] == '(' ? 1 : -1;
  for (unsigned step = 1; step < 256; step *= 2) {
    __syncthreads();
    auto const other = thread >= step ? depths[thread - step] : 0;
    __syncthreads();
    depths[thread] += other;
  }
  out[thread] = depths[thread];
  auto const least = __reduce_min_sync(~0U, depths[thread]);
  if (thread % 32 == 0) atomicMin(out + 256, least);
}

// ---- kernels that lack a barrier: a search for races finds them

/// A sum of the block whose steps begin before the last one has ended.
extern "C" __global__ void sum_without_barrier(unsigned* out, unsigned const* in)
{
  __shared__ unsigned sums[256];
  sums[threadIdx.x] = in[global_rank()];
  __syncthreads();
  for (unsigned half = 1; half < 256; half *= 2) {
    auto const other = threadIdx.x + half < 256 ? sums[threadIdx.x + half] : 0;
    sums[threadIdx.x] += other;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

/// Each lane takes the number that the lane before it wrote.
extern "C" __global__ void rotate_without_barrier(unsigned* out, unsigned const* in)
{
  __shared__ unsigned values[32];
  auto const lane = threadIdx.x;
  values[lane] = in[lane] + lane;
  out[lane] = values[(lane + 31) % 32];
}

/// Two lanes fill the same slot, one after the other.
extern "C" __global__ void fill_without_barrier(unsigned* out, unsigned const* in)
{
  __shared__ unsigned slots[16];
  if (threadIdx.x < 16) slots[threadIdx.x] = in[0];
  if (threadIdx.x >= 16) slots[threadIdx.x - 16] = in[0] + 1;
  __syncwarp();
  out[threadIdx.x] = slots[threadIdx.x % 16];
}

/// As fill_without_barrier, for two warps.
extern "C" __global__ void fill_without_block_barrier(unsigned* out, unsigned const* in)
{
  __shared__ unsigned slots[32];
  if (threadIdx.x < 32) slots[threadIdx.x] = in[0];
  if (threadIdx.x >= 32) slots[threadIdx.x - 32] = in[0] + 1;
  __syncthreads();
  out[threadIdx.x] = slots[threadIdx.x % 32];
}

namespace {

/// The first block writes numbers and sets a flag, for which the second one waits.
template <bool HasFence>
__device__ void hand_over(unsigned* numbers, unsigned volatile* flag)
{
  if (blockIdx.x == 0) {
    numbers[threadIdx.x] = threadIdx.x + 1;
    if (HasFence) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *flag = 7;
  } else {
    while (*flag != 7) {
    }
    numbers[32 + threadIdx.x] = numbers[31 - threadIdx.x];
  }
}

}  // namespace

extern "C" __global__ void publish(unsigned* numbers, unsigned* flag)
{
  hand_over<true>(numbers, flag);
}

extern "C" __global__ void publish_without_fence(unsigned* numbers, unsigned* flag)
{
  hand_over<false>(numbers, flag);
}
