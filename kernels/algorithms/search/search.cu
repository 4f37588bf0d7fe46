// SPDX-License-Identifier: Apache-2.0
// The libraries lower_bound_N and, with FATLINK_UPPER_BOUND, upper_bound_N: for each element of
// `values` its bound, an index in the sorted array `in`. lower_bound finds the first element that
// is not less than the value, upper_bound the first one that the value is less than. One launch of
// search_values.
//
// A binary search reads one element for each level of the array, and each read waits for the one
// before. All searches begin with the same upper levels: each block copies these to shared memory,
// as a tree that is stored level by level, so that the lanes of a warp read different banks. The
// number of elements between two nodes is a power of two, so all searches take the same number of
// steps, and a thread makes several at once.
#include "../detail/overlap.cuh"
#include "../less.cuh"

namespace {

using namespace fatlink_algorithms;

// The plan states the threads of a block and the size of the tree. For many values, a single block
// of a multiprocessor has a tree as large as half of its shared memory.
constexpr unsigned k_most_threads = 1024;
constexpr unsigned k_searches = FATLINK_ELEMENT_BYTES == 32 ? 2 : 4;  // of a thread at once

/// Whether `element` of the array is before the bound of `value`.
__device__ __forceinline__ bool is_before(fatlink_element const& element,
                                          fatlink_element const& value)
{
#ifdef FATLINK_UPPER_BOUND
  return !less(value, element);
#else
  return less(element, value);
#endif
}

/// The sorted array and the shape of its tree: node 1 is the root, the children of node k are 2k
/// and 2k + 1. In order, the 2^levels - 1 nodes are every 2^step_bits-th element; where the array
/// ends before, its last element takes their place.
struct searched_array {
  fatlink_element const* in;
  std::size_t n;
  unsigned levels;
  unsigned step_bits;

  /// @param tree_size  room for nodes, a power of two
  __device__ searched_array(fatlink_element const* array, std::size_t size, unsigned tree_size)
      : in(array), n(size)
  {
    auto const most_levels = 31U - static_cast<unsigned>(__clz(static_cast<int>(tree_size)));
    auto const bits = 64U - static_cast<unsigned>(__clzll(static_cast<long long>(size)));
    levels = bits < most_levels ? bits : most_levels;
    step_bits = bits - levels;
  }

  /// Fills `tree` with the upper levels, by all threads; n > 0.
  __device__ __forceinline__ void copy_tree(fatlink_element* tree) const
  {
#pragma unroll 4
    for (auto node = threadIdx.x + 1; node < 1U << levels; node += blockDim.x) {
      auto const level = 31U - static_cast<unsigned>(__clz(static_cast<int>(node)));
      auto const order = 2 * (node - (1U << level)) + 1;  // among the nodes up to this level
      auto const end = std::size_t{order << (levels - 1 - level)} << step_bits;
      tree[node] = in[(end < n ? end : n) - 1];
    }
  }

  /// The bound of each value. They are found together, step by step.
  __device__ __forceinline__ void find(fatlink_element const* tree,
                                       fatlink_element const (&values)[k_searches],
                                       std::size_t (&found)[k_searches]) const
  {
    unsigned nodes[k_searches];
#pragma unroll
    for (unsigned k = 0; k < k_searches; ++k) nodes[k] = 1;
#pragma unroll 1
    for (unsigned level = 0; level < levels; ++level)
#pragma unroll
      for (unsigned k = 0; k < k_searches; ++k)
        nodes[k] = 2 * nodes[k] + (is_before(tree[nodes[k]], values[k]) ? 1 : 0);
#pragma unroll
    for (unsigned k = 0; k < k_searches; ++k)
      found[k] = std::size_t{nodes[k] - (1U << levels)} << step_bits;
    find_below(values, found);
  }

 private:
  /// Moves each of `found` to the bound, which is less than 2^step_bits elements behind it.
  __device__ __forceinline__ void find_below(fatlink_element const (&values)[k_searches],
                                             std::size_t (&found)[k_searches]) const
  {
#pragma unroll 1
    for (auto half = std::size_t{1} << step_bits >> 1U; half > 0; half >>= 1U) {
      fatlink_element probes[k_searches];
      bool is_inside[k_searches];
#pragma unroll
      for (unsigned k = 0; k < k_searches; ++k) {
        is_inside[k] = found[k] + half <= n;
        probes[k] = in[(is_inside[k] ? found[k] + half : n) - 1];
      }
#pragma unroll
      for (unsigned k = 0; k < k_searches; ++k)
        if (is_inside[k] && is_before(probes[k], values[k])) found[k] += half;
    }
#pragma unroll
    for (unsigned k = 0; k < k_searches; ++k)
      if (found[k] > n) found[k] = n;
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(k_most_threads, 1)
    search_values(fatlink_element const* in, fatlink_element const* values, unsigned long long* out,
                  std::size_t n, std::size_t m, unsigned tree_size)
{
  extern __shared__ uint4 shared[];
  auto* const tree = reinterpret_cast<fatlink_element*>(shared);
  start_next_launch();
  wait_for_last_launch();
  searched_array const array(in, n, tree_size);
  if (n > 0) array.copy_tree(tree);
  __syncthreads();
  auto const stride = std::size_t{gridDim.x} * blockDim.x;
#pragma unroll 1
  for (auto first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; first < m;
       first += k_searches * stride) {
    fatlink_element keys[k_searches];
    std::size_t found[k_searches] = {};
#pragma unroll
    for (unsigned k = 0; k < k_searches; ++k)
      keys[k] = values[first + k * stride < m ? first + k * stride : first];
    if (n > 0) array.find(tree, keys, found);
#pragma unroll
    for (unsigned k = 0; k < k_searches; ++k)
      if (first + k * stride < m) __stcs(out + first + k * stride, found[k]);
  }
}
