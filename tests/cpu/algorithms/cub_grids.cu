// SPDX-License-Identifier: Apache-2.0
// CUB's collectives of a warp, and its device-wide algorithms: kernels around the same agents as
// its own kernels, which wait for the tiles before them (decoupled look-back).
#include <cub/agent/agent_merge_sort.cuh>
#include <cub/agent/agent_radix_sort_histogram.cuh>
#include <cub/agent/agent_radix_sort_onesweep.cuh>
#include <cub/agent/agent_reduce.cuh>
#include <cub/agent/agent_scan.cuh>
#include <cub/agent/agent_select_if.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/grid/grid_even_share.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

using cuda::std::plus;

// ---- warps: blocks of 64 threads

/// 4 numbers for each thread; those of a reduction are valid in its first lane.
extern "C" __global__ void warp_reduce(unsigned* out, unsigned const* in)
{
  using whole = cub::WarpReduce<unsigned>;
  using part = cub::WarpReduce<unsigned, 8>;
  __shared__ typename whole::TempStorage wholes[2];
  __shared__ typename part::TempStorage parts[8];
  auto const thread = threadIdx.x;
  auto const value = in[thread];
  auto* const results = out + 4 * thread;
  auto const is_first = thread % 32 == 0;
  auto const sum = whole(wholes[thread / 32]).Sum(value);
  auto const least = part(parts[thread / 8]).Reduce(value, cuda::minimum<>());
  auto const few = whole(wholes[thread / 32]).Sum(value, 20);
  auto const segment = whole(wholes[thread / 32]).HeadSegmentedSum(value, value % 5 == 0);
  results[0] = is_first ? sum : 0;
  results[1] = thread % 8 == 0 ? least : 0;
  results[2] = is_first ? few : 0;
  results[3] = is_first || value % 5 == 0 ? segment : 0;
}

/// 4 numbers for each thread: sums before it, maxima up to it among 16 lanes, and both sums of
/// Scan.
extern "C" __global__ void warp_scan(unsigned* out, unsigned const* in)
{
  using whole = cub::WarpScan<unsigned>;
  using part = cub::WarpScan<unsigned, 16>;
  __shared__ typename whole::TempStorage wholes[2];
  __shared__ typename part::TempStorage parts[4];
  auto const thread = threadIdx.x;
  auto const value = in[thread];
  auto* const results = out + 4 * thread;
  whole(wholes[thread / 32]).ExclusiveSum(value, results[0]);
  part(parts[thread / 16]).InclusiveScan(value, results[1], cuda::maximum<>());
  whole(wholes[thread / 32]).Scan(value, results[2], results[3], 1U, plus<>());
}

/// Each 16 lanes sort 4 keys of each thread, with their places.
extern "C" __global__ void warp_merge_sort(unsigned* out, unsigned* places, unsigned const* in)
{
  using sort = cub::WarpMergeSort<unsigned, 4, 16, unsigned>;
  __shared__ typename sort::TempStorage storage[4];
  unsigned keys[4];
  unsigned values[4];
  for (int i = 0; i < 4; ++i) keys[i] = in[values[i] = 4 * threadIdx.x + i];
  sort(storage[threadIdx.x / 16]).StableSort(keys, values, cuda::std::less<>());
  for (int i = 0; i < 4; ++i) {
    out[4 * threadIdx.x + i] = keys[i];
    places[4 * threadIdx.x + i] = values[i];
  }
}

/// Each 16 lanes exchange 4 items of each thread: striped to blocked.
extern "C" __global__ void warp_exchange(unsigned* out, unsigned const* in)
{
  using exchange = cub::WarpExchange<unsigned, 4, 16>;
  __shared__ typename exchange::TempStorage storage[4];
  unsigned values[4];
  for (int i = 0; i < 4; ++i) values[i] = in[4 * threadIdx.x + i];
  exchange(storage[threadIdx.x / 16]).StripedToBlocked(values, values);
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = values[i];
}

// ---- device-wide: blocks of 128 threads, 4 items each

namespace {

constexpr int k_threads = 128;
constexpr int k_items = 4;
constexpr int k_tile = k_threads * k_items;

/// The tiles' sums that blocks wait for. At most 64 tiles.
using tile_states = cub::ScanTileState<unsigned>;
__device__ int4 tile_storage[2 * (64 + 32)];

__device__ tile_states states(unsigned tiles)
{
  tile_states states;
  states.Init(static_cast<int>(tiles), tile_storage, sizeof(tile_storage));
  return states;
}

struct is_multiple_of_3 {
  __device__ bool operator()(unsigned x) const { return x % 3 == 0; }
};

}  // namespace

extern "C" __global__ void forget_tiles(unsigned tiles)
{
  states(tiles).InitializeStatus(static_cast<int>(tiles));
}

/// out[block] = the sum of its tiles.
extern "C" __global__ void device_reduce(unsigned* out, unsigned const* in, int count)
{
  using policy = cub::AgentReducePolicy<k_threads, k_items, unsigned, 4,
                                        cub::BLOCK_REDUCE_WARP_REDUCTIONS, cub::LOAD_LDG>;
  using agent =
      cub::detail::reduce::AgentReduce<policy, unsigned const*, unsigned*, int, plus<>, unsigned>;
  __shared__ typename agent::TempStorage storage;
  cub::GridEvenShare<int> share;
  share.DispatchInit(count, static_cast<int>(gridDim.x), agent::TILE_ITEMS);
  auto const sum = agent(storage, in, plus<>()).ConsumeTiles(share);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// out[i] = 5 + the sum of the items before i.
extern "C" __global__ void device_scan(unsigned* out, unsigned const* in, unsigned count)
{
  using policy = cub::AgentScanPolicy<k_threads, k_items, unsigned, cub::BLOCK_LOAD_WARP_TRANSPOSE,
                                      cub::LOAD_DEFAULT, cub::BLOCK_STORE_WARP_TRANSPOSE,
                                      cub::BLOCK_SCAN_WARP_SCANS>;
  using agent = cub::detail::scan::AgentScan<policy, unsigned const*, unsigned*, plus<>, unsigned,
                                             unsigned, unsigned>;
  __shared__ typename agent::TempStorage storage;
  auto tiles = states(gridDim.x);
  agent(storage, in, out, plus<>(), 5U).ConsumeRange(count, tiles, 0);
}

namespace {

struct one_partition {
  unsigned count;
  __device__ unsigned input_offset() const { return 0; }
  __device__ unsigned num_previously_selected() const { return 0; }
  __device__ void update_num_selected(unsigned* total, unsigned selected) const
  {
    *total = selected;
  }
};

}  // namespace

/// Copies the multiples of 3 to out + 1; out[0] = their number.
extern "C" __global__ void device_select(unsigned* out, unsigned const* in, unsigned count)
{
  using policy = cub::AgentSelectIfPolicy<k_threads, k_items, cub::BLOCK_LOAD_WARP_TRANSPOSE,
                                          cub::LOAD_DEFAULT, cub::BLOCK_SCAN_WARP_SCANS>;
  using agent =
      cub::detail::select::AgentSelectIf<policy, unsigned const*, cub::NullType*, unsigned*,
                                         is_multiple_of_3, cub::NullType, unsigned, one_partition,
                                         cub::SelectImpl::Select>;
  __shared__ typename agent::TempStorage storage;
  auto tiles = states(gridDim.x);
  agent(storage, in, nullptr, out + 1, is_multiple_of_3(), cub::NullType(), count,
        one_partition{count})
      .ConsumeRange(static_cast<int>(gridDim.x), tiles, out);
}

// ---- radix sort in one sweep for each 8 bits

namespace {

constexpr int k_digits = 256;
using histogram_policy = cub::AgentRadixSortHistogramPolicy<k_threads, k_items, 1, unsigned, 8>;
using sweep_policy =
    cub::AgentRadixSortOnesweepPolicy<k_threads, 16, unsigned, 1,
                                      cub::RADIX_RANK_MATCH_EARLY_COUNTS_ANY,
                                      cub::BLOCK_SCAN_WARP_SCANS, cub::RADIX_SORT_STORE_DIRECT, 8>;

}  // namespace

/// bins: for each of the 4 digits, the number of keys with each value.
extern "C" __global__ void count_digits(unsigned* bins, unsigned const* keys, unsigned count)
{
  using agent =
      cub::detail::radix_sort::AgentRadixSortHistogram<histogram_policy, false, unsigned, unsigned>;
  __shared__ typename agent::TempStorage storage;
  agent(storage, bins, keys, count, 0, 32).Process();
}

/// One block of 256 threads for each digit.
extern "C" __global__ void sum_digits(unsigned* bins)
{
  using scan = cub::BlockScan<unsigned, k_digits>;
  __shared__ typename scan::TempStorage storage;
  auto& bin = bins[blockIdx.x * k_digits + threadIdx.x];
  scan(storage).ExclusiveSum(bin, bin);
}

/// look_back: zeros, 1 + 256 for each block.
extern "C" __global__ void sort_by_digit(unsigned* keys_out, unsigned* values_out, int* look_back,
                                         unsigned const* keys, unsigned const* values,
                                         unsigned const* bins, int count, int digit)
{
  using agent = cub::detail::radix_sort::AgentRadixSortOnesweep<sweep_policy, false, unsigned,
                                                                unsigned, unsigned, int>;
  __shared__ typename agent::TempStorage storage;
  agent(storage, look_back + 1, look_back, nullptr, bins + digit * k_digits, keys_out, keys,
        values_out, values, count, 8 * digit, 8)
      .Process();
}

// ---- merge sort of keys by their high 20 bits

namespace {

using merge_policy = cub::AgentMergeSortPolicy<k_threads, k_items, cub::BLOCK_LOAD_WARP_TRANSPOSE,
                                               cub::LOAD_DEFAULT, cub::BLOCK_STORE_WARP_TRANSPOSE>;
struct by_high_bits {
  __device__ bool operator()(unsigned a, unsigned b) const { return a >> 12U < b >> 12U; }
};
constexpr cub::NullType* k_no_items = nullptr;

}  // namespace

/// Sorts each tile; `ping`: into `out`, else into `other`.
extern "C" __global__ void sort_tiles(unsigned* out, unsigned* other, unsigned* in, unsigned count,
                                      bool ping)
{
  using agent = cub::detail::merge_sort::AgentBlockSort<merge_policy, unsigned*, cub::NullType*,
                                                        unsigned*, cub::NullType*, unsigned,
                                                        by_high_bits, unsigned, cub::NullType>;
  __shared__ typename agent::TempStorage storage;
  agent(ping, storage, in, k_no_items, count, out, k_no_items, other, k_no_items, by_high_bits())
      .Process();
}

/// Where the merged tiles begin: one more than there are tiles. `tiles` are merged into one each.
extern "C" __global__ void divide_tiles(unsigned* limits, unsigned* keys, unsigned* other,
                                        unsigned count, unsigned limits_count, unsigned tiles,
                                        bool ping)
{
  using agent =
      cub::detail::merge_sort::AgentPartition<unsigned*, unsigned, by_high_bits, unsigned>;
  auto const limit = blockIdx.x * blockDim.x + threadIdx.x;
  if (limit < limits_count)
    agent(ping, keys, other, count, limit, limits, by_high_bits(), tiles, k_tile, limits_count)
        .Process();
}

/// Merges from `keys` to `other` if `ping`, else back.
extern "C" __global__ void merge_tiles(unsigned* keys, unsigned* other, unsigned* limits,
                                       unsigned count, unsigned tiles, bool ping)
{
  using agent =
      cub::detail::merge_sort::AgentMerge<merge_policy, unsigned*, cub::NullType*, unsigned,
                                          by_high_bits, unsigned, cub::NullType>;
  __shared__ typename agent::TempStorage storage;
  agent(ping, storage, keys, k_no_items, other, k_no_items, count, other, k_no_items, keys,
        k_no_items, by_high_bits(), limits, tiles)
      .Process();
}
