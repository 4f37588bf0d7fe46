// SPDX-License-Identifier: Apache-2.0
// The kernels of histogram. Each block counts in shared memory and adds what it counted to the
// result at its end.
#pragma once

#include <cstdint>

#include "../detail/overlap.cuh"
#include "../detail/sources.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_clear_threads = 512;
constexpr unsigned k_threads = 1024;
constexpr unsigned k_vectors = FATLINK_ELEMENT_BYTES == 32 ? 2 : 4;

/// The hook `bin` with its state as a function object.
struct bin_hook {
  void const* state;
  template <typename Element>
  __device__ __forceinline__ unsigned operator()(Element const& x) const
  {
    return bin(x, state);
  }
};

/// Sets `bins` counters to zero.
template <typename Count>
__device__ __forceinline__ void clear_counts(Count* counts, std::size_t bins)
{
  start_next_launch();
  auto const i = std::size_t{blockIdx.x} * k_clear_threads + threadIdx.x;
  if (i < bins) counts[i] = 0;
}

/// Counts in shared memory: only the `bins` bins from `first` on.
struct shared_bins {
  unsigned* counts;
  unsigned first;
  unsigned bins;

  __device__ __forceinline__ void add(unsigned bin) const
  {
    auto const place = bin - first;  // of a bin before the first one more than any number of bins
    if (place < bins) atomicAdd(counts + place, 1U);
  }
};

/// Counts in global memory, where many elements in few bins would wait for one another. So a table
/// in shared memory has places for some bins: the first bin that a block meets for a place is
/// counted there. A block sees less than 2^32 elements.
template <typename Count>
struct cached_bins {
  static constexpr unsigned k_places = 4096;
  static constexpr unsigned k_shift = 20;  ///< 32 bits less those of a place
  static constexpr unsigned k_none = ~0U;  ///< no bin

  struct table {
    unsigned bins[k_places];
    unsigned counts[k_places];
  };

  Count* counts;
  unsigned bins;
  table& cached;

  template <unsigned Threads>
  __device__ __forceinline__ void clear() const
  {
    for (auto k = threadIdx.x; k < k_places; k += Threads) {
      cached.bins[k] = k_none;
      cached.counts[k] = 0;
    }
    __syncthreads();
  }

  __device__ __forceinline__ void add(unsigned bin) const
  {
    if (bin >= bins) return;
    auto const place = bin * 2654435761U >> k_shift;  // by Knuth: also multiples are spread
    auto owner = load_relaxed(cached.bins + place);
    if (owner == k_none) owner = atomicCAS(cached.bins + place, k_none, bin);
    if (owner == bin || owner == k_none)
      atomicAdd(cached.counts + place, 1U);
    else
      atomicAdd(counts + bin, Count{1});
  }

  template <unsigned Threads>
  __device__ __forceinline__ void finish() const
  {
    __syncthreads();
    for (auto k = threadIdx.x; k < k_places; k += Threads)
      if (auto const count = cached.counts[k]; count != 0)
        atomicAdd(counts + cached.bins[k], Count{count});
  }

 private:
  static __device__ __forceinline__ unsigned load_relaxed(unsigned const* address)
  {
    unsigned value = 0;
    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];"
                 : "=r"(value)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(address)))
                 : "memory");
    return value;
  }
};

/// Counts the elements of the source that fall to the block.
template <unsigned Vectors, unsigned Threads, typename Source, typename Bins, typename BinOf>
__device__ __forceinline__ void count_elements(Source const& source, std::size_t n,
                                               Bins const& bins, BinOf bin_of)
{
  using Element = typename Source::element;
  constexpr unsigned k_pack = sizeof(Element) < 16 ? 16 / sizeof(Element) : 1;
  constexpr unsigned k_tile = Threads * Vectors * k_pack;
  auto const step = std::size_t{gridDim.x} * k_tile;
  auto tile = std::size_t{blockIdx.x} * k_tile;
  if (source.aligned)
    for (; tile + k_tile <= n; tile += step) {
      Element items[Vectors][k_pack];
#pragma unroll
      for (unsigned v = 0; v < Vectors; ++v)
        source.as_aligned().load_items(tile + (v * Threads + threadIdx.x) * k_pack, items[v]);
#pragma unroll
      for (unsigned v = 0; v < Vectors; ++v)
#pragma unroll
        for (unsigned k = 0; k < k_pack; ++k) bins.add(bin_of(items[v][k]));
    }
  // Tiles of an unaligned array, or the last one.
  for (; tile < n; tile += step)
    for (auto i = tile + threadIdx.x; i < min(tile + k_tile, n); i += Threads)
      bins.add(bin_of(source[i]));
}

/// Adds the histogram of the block's elements to `counts`: of the `width` bins of its row of the
/// grid, fewer in the last row. Dynamic shared memory: `width` unsigned integers; a block sees less
/// than 2^32 elements.
template <unsigned Vectors, unsigned Threads, typename Source, typename Count, typename BinOf>
__device__ __forceinline__ void histogram_in_shared(Source const& source, Count* counts,
                                                    std::size_t n, unsigned bins, unsigned width,
                                                    BinOf bin_of)
{
  extern __shared__ unsigned block_counts[];
  auto const first = blockIdx.y * width;
  auto const size = first < bins ? min(bins - first, width) : 0;
  for (auto k = threadIdx.x; k < size; k += Threads) block_counts[k] = 0;
  __syncthreads();
  count_elements<Vectors, Threads>(source, n, shared_bins{block_counts, first, size}, bin_of);
  wait_for_last_launch();  // it clears the counts
  __syncthreads();
  for (auto k = threadIdx.x; k < size; k += Threads)
    if (auto const count = block_counts[k]; count != 0) atomicAdd(counts + first + k, Count{count});
}

/// The same for more bins than fit in shared memory: adds to `counts`.
template <unsigned Vectors, unsigned Threads, typename Source, typename Count, typename BinOf>
__device__ __forceinline__ void histogram_in_global(Source const& source, Count* counts,
                                                    std::size_t n, unsigned bins, BinOf bin_of)
{
  __shared__ typename cached_bins<Count>::table table;
  cached_bins<Count> const cached{counts, bins, table};
  cached.template clear<Threads>();
  wait_for_last_launch();
  count_elements<Vectors, Threads>(source, n, cached, bin_of);
  cached.template finish<Threads>();
}

}  // namespace fatlink_algorithms
