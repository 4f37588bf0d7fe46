// SPDX-License-Identifier: Apache-2.0
// Blocks that work together without a library: tickets, flags, locks and barriers in global
// memory, as programs write them by hand. Blocks of 128 threads.

namespace {

constexpr unsigned k_threads = 128;

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/// The sum over the block, in every thread.
__device__ unsigned sum_of_block(unsigned value)
{
  __shared__ unsigned sums[k_threads / 32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0U, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  return sums[0] + sums[1] + sums[2] + sums[3];
}

__device__ unsigned finished_blocks;

}  // namespace

/// The block that ends last adds up the sums of all (threadFenceReduction).
extern "C" __global__ void reduce_in_last_block(unsigned* out, unsigned* parts, unsigned const* in,
                                                unsigned count)
{
  __shared__ bool is_last;
  unsigned sum = 0;
  for (auto i = global_rank(); i < count; i += gridDim.x * blockDim.x) sum += in[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(&finished_blocks, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  sum = 0;
  for (auto i = threadIdx.x; i < gridDim.x; i += blockDim.x)
    sum += static_cast<unsigned volatile*>(parts)[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) {
    out[0] = sum;
    finished_blocks = 0;
  }
}

/// Sums up to each item in one pass: a block adds up the sums of the blocks before it until one of
/// them has published its total. states: zeros, two words a block: 1 = sum known, 2 = total.
extern "C" __global__ void scan_with_look_back(unsigned* out, unsigned* ticket,
                                               unsigned long long* states, unsigned const* in)
{
  __shared__ unsigned tile;
  __shared__ unsigned before;
  __shared__ unsigned sums[k_threads];
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1U);
  __syncthreads();
  auto const i = tile * k_threads + threadIdx.x;
  sums[threadIdx.x] = in[i];
  __syncthreads();
  for (unsigned step = 1; step < k_threads; step *= 2) {
    auto const other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    unsigned long long const sum = sums[k_threads - 1];
    atomicExch(states + tile, 1ULL << 32U | sum);
    unsigned prefix = 0;
    for (auto k = tile; k-- > 0;) {
      unsigned long long state = 0;
      while ((state = static_cast<unsigned long long volatile*>(states)[k]) == 0) {
      }
      prefix += static_cast<unsigned>(state);
      if (state >> 32U == 2) break;
    }
    atomicExch(states + tile, 2ULL << 32U | static_cast<unsigned>(prefix + sum));
    before = prefix;
  }
  __syncthreads();
  out[i] = sums[threadIdx.x] + before;
}

namespace {

/// A barrier of all blocks, with a generation number. All blocks must run at the same time.
__device__ void meet(unsigned* arrived, unsigned volatile* generation)
{
  __syncthreads();
  if (threadIdx.x == 0) {
    auto const own = *generation;
    __threadfence();
    if (atomicAdd(arrived, 1U) == gridDim.x - 1) {
      *arrived = 0;
      __threadfence();
      *generation = own + 1;
    } else {
      while (*generation == own) __nanosleep(50);
    }
    __threadfence();
  }
  __syncthreads();
}

}  // namespace

/// Heat on a ring: each step averages two neighbors; the blocks meet after every step.
extern "C" __global__ void steps_with_barrier(unsigned volatile* values, unsigned volatile* others,
                                              unsigned* counters, unsigned steps)
{
  auto const count = gridDim.x * blockDim.x;
  auto const i = global_rank();
  for (unsigned step = 0; step < steps; ++step) {
    auto* const from = step % 2 == 0 ? values : others;
    auto* const into = step % 2 == 0 ? others : values;
    into[i] = (from[(i + 1) % count] + from[(i + count - 1) % count]) / 2;
    meet(counters, counters + 1);
  }
}

/// Blocks take numbers and are served in this order: out[k] = 1 + the square of k.
extern "C" __global__ void serve_in_order(unsigned* out, unsigned* lock)
{
  if (threadIdx.x != 0) return;
  auto const ticket = atomicAdd(lock, 1U);
  while (static_cast<unsigned volatile*>(lock)[1] != ticket) __nanosleep(20);
  __threadfence();
  auto* const served = static_cast<unsigned volatile*>(out);
  served[ticket] = ticket == 0 ? 1 : served[ticket - 1] + 2 * ticket - 1;
  __threadfence();
  atomicExch(lock + 1, ticket + 1);
}

/// A lock for each of 8 accounts; threads move amounts between two of them.
extern "C" __global__ void move_amounts(unsigned* accounts, unsigned* locks, unsigned const* in)
{
  auto const request = in[global_rank()];
  auto const from = request % 8;
  auto const into = (from + 1 + request / 8 % 7) % 8;
  auto const first = min(from, into);
  auto const second = max(from, into);
  for (bool is_done = false; !is_done;) {
    if (atomicCAS(locks + first, 0U, 1U) != 0) continue;
    if (atomicCAS(locks + second, 0U, 1U) == 0) {
      __threadfence();
      auto* const amounts = static_cast<unsigned volatile*>(accounts);
      amounts[from] = amounts[from] - request % 100;
      amounts[into] = amounts[into] + request % 100;
      __threadfence();
      atomicExch(locks + second, 0U);
      is_done = true;
    }
    atomicExch(locks + first, 0U);
  }
}

/// Blocks take work from a queue, and put new work in: every number n > 1 becomes n / 2 and
/// n - n / 2. out[0] = numbers that became 1. counters: front, back, open (items to do).
extern "C" __global__ void work_from_queue(unsigned* out, unsigned* counters, unsigned* queue)
{
  auto* const open = static_cast<unsigned volatile*>(counters + 2);
  auto* const items = static_cast<unsigned volatile*>(queue);
  while (*open != 0) {
    auto const front = static_cast<unsigned volatile*>(counters)[0];
    if (front == static_cast<unsigned volatile*>(counters)[1]) continue;
    auto const item = items[front];
    if (item == 0 || atomicCAS(counters, front, front + 1) != front) continue;
    if (item == 1) {
      atomicAdd(out, 1U);
    } else {
      atomicAdd(counters + 2, 2U);
      for (auto const part : {item / 2, item - item / 2})
        atomicExch(queue + atomicAdd(counters + 1, 1U), part);
    }
    __threadfence();
    atomicSub(counters + 2, 1U);
  }
}

/// Distances from node 0 by breadth: each launch expands one level. The nodes have 4 edges each.
/// counts: length of `nodes`, length of `reached`.
extern "C" __global__ void expand_level(unsigned* distances, unsigned* reached,
                                        unsigned* reached_count, unsigned const* nodes,
                                        unsigned node_count, unsigned const* edges, unsigned level)
{
  auto const i = global_rank();
  if (i >= node_count) return;
  for (unsigned k = 0; k < 4; ++k) {
    auto const target = edges[4 * nodes[i] + k];
    if (atomicCAS(distances + target, ~0U, level) == ~0U)
      reached[atomicAdd(reached_count, 1U)] = target;
  }
}

/// Inserts keys with compare-and-swap; slots: pairs of key and number of insertions.
extern "C" __global__ void fill_hash_table(unsigned* slots, unsigned slot_count, unsigned const* in,
                                           unsigned count)
{
  auto const i = global_rank();
  if (i >= count) return;
  auto const key = in[i] + 1;
  for (auto slot = key * 2654435761U % slot_count;; slot = (slot + 1) % slot_count) {
    auto const previous = atomicCAS(slots + 2 * slot, 0U, key);
    if (previous != 0 && previous != key) continue;
    atomicAdd(slots + 2 * slot + 1, 1U);
    return;
  }
}

/// A list for each of 16 kinds, made of nodes that threads push: heads, and next for each thread.
extern "C" __global__ void push_to_lists(unsigned* heads, unsigned* next, unsigned const* in)
{
  auto const node = global_rank() + 1;
  auto* const head = heads + in[global_rank()] % 16;
  auto first = *static_cast<unsigned volatile*>(head);
  while (true) {
    next[node - 1] = first;
    __threadfence();
    auto const seen = atomicCAS(head, first, node);
    if (seen == first) return;
    first = seen;
  }
}
