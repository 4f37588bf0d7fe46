// SPDX-License-Identifier: Apache-2.0
// CUB's collectives of a block. Every kernel has blocks of 128 threads and 4 items for each.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>

namespace {

constexpr int k_threads = 128;
constexpr int k_items = 4;

template <typename T>
using items = T[k_items];

/// The items of this thread in the block's part of `values`, in blocked order.
template <typename T>
__device__ T* own_part(T* values)
{
  return values + k_items * (blockIdx.x * k_threads + threadIdx.x);
}

template <typename T>
__device__ void load(T const* in, T* values)
{
  for (int i = 0; i < k_items; ++i) values[i] = own_part(in)[i];
}

template <typename T>
__device__ void store(T* out, T const* values)
{
  for (int i = 0; i < k_items; ++i) own_part(out)[i] = values[i];
}

struct larger {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

/// Hands out what the tiles before have summed up to.
struct running_total {
  unsigned total;
  __device__ unsigned operator()(unsigned aggregate)
  {
    auto const before = total;
    total += aggregate;
    return before;
  }
};

}  // namespace

/// Of each block: the sum, the maximum, and the sum of the first 100 threads' first items.
extern "C" __global__ void block_reduce(unsigned* out, unsigned const* in)
{
  using by_shuffles = cub::BlockReduce<unsigned, k_threads>;
  using by_raking = cub::BlockReduce<unsigned, k_threads, cub::BLOCK_REDUCE_RAKING>;
  using in_order = cub::BlockReduce<unsigned, k_threads, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;
  __shared__ typename by_shuffles::TempStorage shuffles;
  __shared__ typename by_raking::TempStorage raking;
  __shared__ typename in_order::TempStorage ordered;
  items<unsigned> values;
  load(in, values);
  auto const sum = by_shuffles(shuffles).Sum(values);
  auto const maximum = by_raking(raking).Reduce(values, larger());
  auto const part = in_order(ordered).Sum(values[0], 100);
  if (threadIdx.x != 0) return;
  out[3 * blockIdx.x] = sum;
  out[3 * blockIdx.x + 1] = maximum;
  out[3 * blockIdx.x + 2] = part;
}

/// One block: the sums before each item of `tiles` tiles, and behind them the running maxima of
/// the last tile.
extern "C" __global__ void block_scan(unsigned* out, unsigned const* in, unsigned tiles)
{
  using by_warps = cub::BlockScan<unsigned, k_threads, cub::BLOCK_SCAN_WARP_SCANS>;
  using by_raking = cub::BlockScan<unsigned, k_threads, cub::BLOCK_SCAN_RAKING_MEMOIZE>;
  __shared__ typename by_warps::TempStorage warps;
  __shared__ typename by_raking::TempStorage raking;
  running_total prefix{0};
  for (unsigned tile = 0; tile < tiles; ++tile) {
    items<unsigned> values;
    items<unsigned> results;
    load(in + tile * k_threads * k_items, values);
    by_warps(warps).ExclusiveSum(values, results, prefix);
    store(out + tile * k_threads * k_items, results);
    __syncthreads();
    if (tile + 1 < tiles) continue;
    by_raking(raking).InclusiveScan(values, results, larger());
    store(out + tiles * k_threads * k_items, results);
  }
}

/// Sorts the keys of each block with their positions: upwards, and downwards by the low 16 bits.
extern "C" __global__ void block_radix_sort(unsigned* out, unsigned const* in)
{
  using sort = cub::BlockRadixSort<unsigned, k_threads, k_items, unsigned>;
  __shared__ typename sort::TempStorage storage;
  items<unsigned> keys;
  items<unsigned> places;
  load(in, keys);
  for (int i = 0; i < k_items; ++i) places[i] = threadIdx.x * k_items + i;
  sort(storage).Sort(keys, places);
  auto const count = gridDim.x * k_threads * k_items;
  store(out, keys);
  store(out + count, places);
  __syncthreads();
  sort(storage).SortDescendingBlockedToStriped(keys, places, 0, 16);
  auto* const striped = out + 2 * count + blockIdx.x * k_threads * k_items;
  for (int i = 0; i < k_items; ++i) striped[threadIdx.x + i * k_threads] = keys[i];
}

/// Sorts signed 64-bit keys, floats and bytes.
extern "C" __global__ void block_radix_sort_types(float* floats, long long* longs, char* bytes)
{
  using float_sort = cub::BlockRadixSort<float, k_threads, k_items>;
  using long_sort = cub::BlockRadixSort<long long, k_threads, k_items>;
  using byte_sort = cub::BlockRadixSort<char, k_threads, k_items>;
  __shared__ union {
    typename float_sort::TempStorage of_floats;
    typename long_sort::TempStorage of_longs;
    typename byte_sort::TempStorage of_bytes;
  } storage;
  items<float> reals;
  items<long long> wholes;
  items<char> small;
  load(floats, reals);
  float_sort(storage.of_floats).Sort(reals);
  store(floats, reals);
  __syncthreads();
  load(longs, wholes);
  long_sort(storage.of_longs).SortDescending(wholes);
  store(longs, wholes);
  __syncthreads();
  load(bytes, small);
  byte_sort(storage.of_bytes).Sort(small);
  store(bytes, small);
}

/// Sorts by the low 6 bits; equal ones keep their order.
extern "C" __global__ void block_merge_sort(unsigned* out, unsigned const* in, unsigned valid)
{
  using sort = cub::BlockMergeSort<unsigned, k_threads, k_items>;
  __shared__ typename sort::TempStorage storage;
  items<unsigned> keys;
  load(in, keys);
  auto const is_less = [](unsigned a, unsigned b) { return (a & 63U) < (b & 63U); };
  sort(storage).StableSort(keys, is_less, static_cast<int>(valid), ~0U);
  store(out, keys);
}

/// Copies through each kind of load and store, the last tile in part.
extern "C" __global__ void block_transposes(unsigned* out, unsigned const* in, unsigned count)
{
  using warp_load = cub::BlockLoad<unsigned, k_threads, k_items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using vector_load = cub::BlockLoad<unsigned, k_threads, k_items, cub::BLOCK_LOAD_VECTORIZE>;
  using block_store = cub::BlockStore<unsigned, k_threads, k_items, cub::BLOCK_STORE_TRANSPOSE>;
  using striped_store = cub::BlockStore<unsigned, k_threads, k_items, cub::BLOCK_STORE_STRIPED>;
  __shared__ union {
    typename warp_load::TempStorage load;
    typename block_store::TempStorage store;
  } storage;
  constexpr unsigned tile = k_threads * k_items;
  auto const first = blockIdx.x * tile;
  auto const valid = static_cast<int>(count - first < tile ? count - first : tile);
  items<unsigned> values;
  warp_load(storage.load).Load(in + first, values, valid, 7U);
  __syncthreads();
  block_store(storage.store).Store(out + first, values, valid);
  vector_load().Load(in, values);
  striped_store().Store(out + count + first, values, valid);
}

/// Counts 64 kinds of values in each block, by sorting and by atomics.
extern "C" __global__ void block_histogram(unsigned* out, unsigned char const* in)
{
  using by_sort = cub::BlockHistogram<unsigned char, k_threads, k_items, 64, cub::BLOCK_HISTO_SORT>;
  using by_atomics =
      cub::BlockHistogram<unsigned char, k_threads, k_items, 64, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename by_sort::TempStorage sort;
  __shared__ typename by_atomics::TempStorage atomics;
  __shared__ unsigned sorted[64];
  __shared__ unsigned added[64];
  items<unsigned char> values;
  load(in, values);
  by_atomics(atomics).Histogram(values, added);
  __syncthreads();
  by_sort(sort).Histogram(values, sorted);
  __syncthreads();
  if (threadIdx.x < 64) {
    out[128 * blockIdx.x + threadIdx.x] = added[threadIdx.x];
    out[128 * blockIdx.x + 64 + threadIdx.x] = sorted[threadIdx.x];
  }
}

/// Whether each item differs from the one before (1) and the one after (2).
extern "C" __global__ void block_discontinuity(unsigned* out, unsigned const* in)
{
  using edges = cub::BlockDiscontinuity<unsigned, k_threads>;
  __shared__ typename edges::TempStorage storage;
  items<unsigned> values;
  items<unsigned> heads;
  items<unsigned> tails;
  load(in, values);
  edges(storage).FlagHeadsAndTails(heads, tails, values, cuda::std::not_equal_to<>());
  for (int i = 0; i < k_items; ++i) heads[i] += 2 * tails[i];
  store(out, heads);
}

/// Blocked to striped and back, to the order of the warps, and scattered backwards.
extern "C" __global__ void block_exchange(unsigned* out, unsigned const* in)
{
  using exchange = cub::BlockExchange<unsigned, k_threads, k_items>;
  __shared__ typename exchange::TempStorage storage;
  constexpr int tile = k_threads * k_items;
  items<unsigned> values;
  items<int> ranks;
  load(in, values);
  for (int i = 0; i < k_items; ++i) ranks[i] = tile - 1 - (threadIdx.x * k_items + i);
  exchange(storage).BlockedToStriped(values, values);
  store(out, values);
  __syncthreads();
  exchange(storage).StripedToBlocked(values, values);
  __syncthreads();
  exchange(storage).BlockedToWarpStriped(values, values);
  store(out + tile, values);
  __syncthreads();
  load(in, values);
  exchange(storage).ScatterToBlocked(values, values, ranks);
  store(out + 2 * tile, values);
}

/// Expands runs: run i has lengths[i] items of value i, `total` in all.
extern "C" __global__ void block_run_length_decode(unsigned* out, unsigned const* lengths,
                                                   unsigned total)
{
  using decoder = cub::BlockRunLengthDecode<unsigned, k_threads, 1, k_items>;
  __shared__ typename decoder::TempStorage storage;
  unsigned value[1] = {threadIdx.x};
  unsigned length[1] = {lengths[threadIdx.x]};
  unsigned decoded = 0;
  decoder runs(storage, value, length, decoded);
  for (unsigned first = 0; first < decoded; first += k_threads * k_items) {
    items<unsigned> values;
    runs.RunLengthDecode(values, first);
    for (int i = 0; i < k_items; ++i) {
      auto const place = first + threadIdx.x * k_items + i;
      if (place < total) out[place] = values[i];
    }
  }
}

/// Differences of neighbors, and the items rotated by 5 threads.
extern "C" __global__ void block_neighbors(unsigned* out, unsigned const* in)
{
  using difference = cub::BlockAdjacentDifference<unsigned, k_threads>;
  using shuffle = cub::BlockShuffle<unsigned, k_threads>;
  __shared__ typename difference::TempStorage differences;
  __shared__ typename shuffle::TempStorage rotation;
  items<unsigned> values;
  items<unsigned> results;
  load(in, values);
  difference(differences).SubtractLeft(values, results, cuda::std::minus<>());
  store(out, results);
  shuffle(rotation).Rotate(values[0], results[0], 5);
  out[k_threads * k_items + threadIdx.x] = results[0];
}
