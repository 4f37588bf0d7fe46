// SPDX-License-Identifier: Apache-2.0
// The runs that a pass of a merge sort merges.
#pragma once

#include <cstddef>

#include "../detail/lanes.cuh"

#include "merge_path.cuh"

namespace fatlink_algorithms {

/// The two runs that a tile is merged from. A pair of runs has 2^shift tiles of `tile_size`
/// elements, half of them in each run; the last runs of an array of n elements may be shorter or
/// empty.
struct run_pair {
  std::size_t begin;   // of the first run
  std::size_t middle;  // end of the first run, begin of the second one
  std::size_t end;

  __device__ __forceinline__ run_pair(std::size_t tile, unsigned tile_size, unsigned shift,
                                      std::size_t n)
      : begin((tile >> shift << shift) * tile_size),
        middle(smaller(begin + (std::size_t{tile_size} << shift) / 2, n)),
        end(smaller(begin + (std::size_t{tile_size} << shift), n))
  {
  }
  __device__ std::size_t first_size() const { return middle - begin; }
  __device__ std::size_t second_size() const { return end - middle; }

 private:
  __device__ static std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }
};

/// cuts[t]: elements of the first run among those merged before tile t of its pair. A thread for
/// each tile.
template <typename Key, typename Less>
__device__ __forceinline__ void find_cuts(Key const* keys, std::size_t* cuts, std::size_t n,
                                          unsigned tile_size, unsigned shift, Less less)
{
  auto const tile = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto const place = tile * tile_size;
  if (place >= n) return;
  run_pair const runs(tile, tile_size, shift, n);
  cuts[tile] = merge_path(keys + runs.begin, runs.first_size(), keys + runs.middle,
                          runs.second_size(), place - runs.begin, less);
}

}  // namespace fatlink_algorithms
