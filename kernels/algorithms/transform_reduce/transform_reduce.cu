// SPDX-License-Identifier: Apache-2.0
// The library transform_reduce_N: *out = combine(init, load(in, 0), …, load(in, n - 1)) in the
// order of the array. Launched as reduce_N: small arrays by transform_reduce_block, others by
// transform_reduce_chunks and transform_reduce_partial.
#include "../load_combine.cuh"
// The contract's header comes first.
#include "../detail/hooks.cuh"
#include "../detail/load_hook.cuh"
#include "../detail/overlap.cuh"
#include "../reduce/reduce.cuh"

using namespace fatlink_algorithms;

namespace {

constexpr unsigned k_threads = 256;
constexpr unsigned k_last_threads = 512;
using shape = tile_shape<FATLINK_ELEMENT_BYTES, FATLINK_ELEMENT_BYTES == 32 ? 2 : 4, 1>;
using element = fatlink_element;

/// Waits for the launch before, which may have written `in` and `state`.
__device__ load_source source_of(void const* in, void const* state)
{
  start_next_launch();
  return load_from(static_cast<char const*>(in) + wait_for_last_launch(), state);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(k_threads)
    transform_reduce_chunks(void const* __restrict__ in, element* __restrict__ partial,
                            std::size_t n, unsigned long long const* limit, std::size_t share,
                            void const* __restrict__ state)
{
  auto const source = source_of(in, state);
  reduce_chunk<shape, k_threads, reading::fast_tiles>(source, partial, {n, limit}, share,
                                                      combine_hook{});
}

extern "C" __global__ void __launch_bounds__(k_last_threads)
    transform_reduce_block(void const* __restrict__ in, element* __restrict__ out, std::size_t n,
                           unsigned long long const* limit, element init,
                           void const* __restrict__ state)
{
  auto const source = source_of(in, state);
  reduce_all<shape, k_last_threads>(source, out, limited(n, limit), init, combine_hook{});
}

extern "C" __global__ void __launch_bounds__(k_last_threads)
    transform_reduce_partial(element const* partial, element* __restrict__ out, std::size_t n,
                             unsigned long long const* limit, std::size_t chunk, element init)
{
  start_next_launch();
  wait_for_last_launch();
  array_source<element, written::during> const source{partial};
  reduce_all<shape, k_last_threads>(source, out, limited_chunks(n, limit, chunk), init,
                                    combine_hook{});
}
