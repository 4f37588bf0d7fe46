// SPDX-License-Identifier: Apache-2.0
// The library merge_N: out = the elements of two sorted arrays in the order of `less`, equal ones
// of in1 before those of in2. merge_tiles; for large arrays after merge_cuts, which finds where the
// tiles begin in in1 (has_cuts). The kernels are those of a pass of sort_N, with its settings,
// except for elements of 4 bytes.
#include "../less.cuh"
#include "../sort/sort_settings.cuh"

using namespace fatlink_algorithms;

namespace {

// The fastest for floats on an H200 of those that were measured; the plan repeats the threads.
constexpr bool k_keeps_keys = FATLINK_ELEMENT_BYTES == 4;
constexpr unsigned k_merge_threads = k_keeps_keys ? 512 : k_threads;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr unsigned k_blocks = k_keeps_keys ? 1 : k_merge_blocks;
#else
constexpr unsigned k_blocks = k_keeps_keys ? 4 : k_merge_blocks;
#endif
using tile =
    tile_merger<fatlink_element, no_value, less_hook, k_merge_threads, k_items, k_keeps_keys>;

}  // namespace

extern "C" __global__ void __launch_bounds__(k_cut_threads)
    merge_cuts(fatlink_element const* in1, fatlink_element const* in2, std::size_t* cuts,
               std::size_t n1, std::size_t n2)
{
  wait_for_last_launch();
  start_next_launch();
  auto const cut = std::size_t{blockIdx.x} * k_cut_threads + threadIdx.x;
  auto const place = cut * tile::tile_size;
  if (place < n1 + n2) cuts[cut] = merge_path(in1, n1, in2, n2, place, less_hook());
}

extern "C" __global__ void __launch_bounds__(k_merge_threads, k_blocks)
    merge_tiles(fatlink_element const* in1, fatlink_element const* in2, fatlink_element* out,
                std::size_t const* cuts, std::size_t n1, std::size_t n2, unsigned has_cuts)
{
  wait_for_last_launch();
  __shared__ tile::storage shared;
  auto const place = std::size_t{blockIdx.x} * tile::tile_size;
  tile(shared, {{in1, nullptr}, n1, {in2, nullptr}, n2}, {out + place, nullptr}, place, less_hook())
      .merge(has_cuts ? cuts : nullptr);
}
