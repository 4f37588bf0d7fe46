// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda/std/functional>

#include "cub_operators.cuh"
// Since CCCL 3.3.
#if __has_include(<cub/device/device_topk.cuh>)
#define CUB_CALLS_TOP_K
#include <cub/device/device_topk.cuh>
#include <cuda/execution>
#include <cuda/iterator>
#include <cuda/stream>
#endif
#if __has_include(<cub/device/device_find.cuh>)
#define CUB_CALLS_FIND
#include <cub/device/device_find.cuh>
#include <cuda/stream>
#else
#include <thrust/binary_search.h>
#include <thrust/system/cuda/execution_policy.h>
#endif

namespace cub_calls {
namespace {

template <typename Element>
struct sorted_call : call {
  cudaError_t merge() const
  {
    return cub::DeviceMerge::MergeKeys(scratch, bytes, in(), static_cast<std::int64_t>(data.first),
                                       second(), static_cast<std::int64_t>(data.n - data.first),
                                       static_cast<Element*>(data.out), is_less{}, where);
  }
#ifdef CUB_CALLS_FIND
  cudaError_t lower_bound() const
  {
    using cub::DeviceFind;
    if (data.is_special)
      return DeviceFind::LowerBoundSortedValues(scratch, bytes, in(), n(), second(), n(), places(),
                                                is_less{}, where);
    return DeviceFind::LowerBound(scratch, bytes, in(), n(), second(), n(), places(), is_less{},
                                  cuda::stream_ref(where));
  }
  cudaError_t upper_bound() const
  {
    using cub::DeviceFind;
    if (data.is_special)
      return DeviceFind::UpperBoundSortedValues(scratch, bytes, in(), n(), second(), n(), places(),
                                                is_less{}, where);
    return DeviceFind::UpperBound(scratch, bytes, in(), n(), second(), n(), places(), is_less{},
                                  cuda::stream_ref(where));
  }
#else
  cudaError_t lower_bound() const
  {
    if (scratch == nullptr) return cudaSuccess;
    thrust::lower_bound(thrust::cuda::par_nosync.on(where), in(), in() + n(), second(),
                        second() + n(), places(), is_less{});
    return cudaGetLastError();
  }
  cudaError_t upper_bound() const
  {
    if (scratch == nullptr) return cudaSuccess;
    thrust::upper_bound(thrust::cuda::par_nosync.on(where), in(), in() + n(), second(),
                        second() + n(), places(), is_less{});
    return cudaGetLastError();
  }
#endif

  [[nodiscard]] Element const* in() const
  {
    return static_cast<Element const*>(data.in);
  }
  [[nodiscard]] Element const* second() const
  {
    return static_cast<Element const*>(data.second);
  }
  [[nodiscard]] unsigned long long* places() const
  {
    return static_cast<unsigned long long*>(data.out);
  }
};

/// The k largest floats in descending order, and their indexes.
struct top_k_call : call {
#ifdef CUB_CALLS_TOP_K
  /// DeviceTopK, whose results have no order, and a sort of the results, unless is_special.
  cudaError_t run() const
  {
    if (data.is_special)
      return select(scratch, bytes, static_cast<float*>(data.out), indexes_out());
    std::array<std::size_t, 4> parts{0, 0, data.k * sizeof(float),
                                     data.k * sizeof(unsigned long long)};
    std::array<void*, 4> places{};
    if (auto const code = select(nullptr, parts[0], nullptr, nullptr)) return code;
    if (auto const code = sort(nullptr, parts[1], nullptr, nullptr, k())) return code;
    if (divide(parts, places)) return cudaSuccess;
    auto* const keys = static_cast<float*>(places[2]);
    auto* const indexes = static_cast<unsigned long long*>(places[3]);
    if (auto const code = select(places[0], parts[0], keys, indexes)) return code;
    return sort(places[1], parts[1], keys, indexes, k());
  }

  cudaError_t select(void* memory, std::size_t& size, float* keys,
                     unsigned long long* indexes) const
  {
    auto const properties = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                     cuda::execution::output_ordering::unsorted);
    auto const settings = cuda::std::execution::env{cuda::stream_ref(where), properties};
    auto const* const in = static_cast<float const*>(data.in);
    return cub::DeviceTopK::MaxPairs(memory, size, in, keys,
                                     cuda::counting_iterator<unsigned long long>(0), indexes, n(),
                                     k(), settings);
  }

  cudaError_t sort(void* memory, std::size_t& size, float const* keys,
                   unsigned long long const* indexes, int count) const
  {
    auto* const out = static_cast<float*>(data.out);
    return cub::DeviceRadixSort::SortPairsDescending(memory, size, keys, out, indexes,
                                                     indexes_out(), count, 0, 32, where);
  }

  [[nodiscard]] int k() const
  {
    return static_cast<int>(data.k);
  }
  [[nodiscard]] unsigned long long* indexes_out() const
  {
    return static_cast<unsigned long long*>(data.second_out);
  }
#else
  /// A sort of all elements, because this CUB has no DeviceTopK.
  cudaError_t run() const
  {
    std::array<std::size_t, 4> parts{0, data.n * sizeof(float), data.n * sizeof(unsigned long long),
                                     data.n * sizeof(unsigned long long)};
    std::array<void*, 4> places{};
    if (auto const code = sort_all(nullptr, parts[0], nullptr, nullptr, nullptr)) return code;
    if (divide(parts, places)) return cudaSuccess;
    auto* const keys = static_cast<float*>(places[1]);
    auto* const from = static_cast<unsigned long long*>(places[2]);
    auto* const indexes = static_cast<unsigned long long*>(places[3]);
    cub::DeviceTransform::Transform(thrust::counting_iterator<unsigned long long>(0), from, n(),
                                    cuda::std::identity{}, where);
    if (auto const code = sort_all(places[0], parts[0], keys, from, indexes)) return code;
    auto const code = copy_first(data.out, keys, sizeof(float));
    if (code != cudaSuccess) return code;
    return copy_first(data.second_out, indexes, sizeof(unsigned long long));
  }

  cudaError_t sort_all(void* memory, std::size_t& size, float* keys, unsigned long long* from,
                       unsigned long long* indexes) const
  {
    auto const* const in = static_cast<float const*>(data.in);
    return cub::DeviceRadixSort::SortPairsDescending(memory, size, in, keys, from, indexes, n(), 0,
                                                     32, where);
  }

  cudaError_t copy_first(void* to, void const* from, std::size_t size) const
  {
    return cudaMemcpyAsync(to, from, data.k * size, cudaMemcpyDeviceToDevice, where);
  }
#endif

  /// Divides the scratch memory. Without memory, sets the bytes it needs: true.
  bool divide(std::array<std::size_t, 4> const& parts, std::array<void*, 4>& places) const
  {
    std::size_t end = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (scratch != nullptr) places[i] = static_cast<char*>(scratch) + end;
      end += (parts[i] + 511) / 256 * 256;
    }
    if (scratch == nullptr) bytes = end;
    return scratch == nullptr;
  }
};

cudaError_t segmented_sort(call const& queued)
{
  auto const& data = queued.data;
  return cub::DeviceSegmentedSort::StableSortKeys(
      queued.scratch, queued.bytes, static_cast<float const*>(data.in),
      static_cast<float*>(data.out), static_cast<std::int64_t>(data.n),
      static_cast<std::int64_t>(data.segments), data.offsets, data.offsets + 1, queued.where);
}

template <typename Element>
cudaError_t dispatch(algorithm kind, sorted_call<Element> const& queued)
{
  switch (kind) {
    case algorithm::merge:
      return queued.merge();
    case algorithm::lower_bound:
      return queued.lower_bound();
    case algorithm::upper_bound:
      return queued.upper_bound();
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t call_in_order(algorithm kind, element type, call const& queued)
{
  if (kind == algorithm::segmented_sort) return segmented_sort(queued);
  if (kind == algorithm::top_k) return top_k_call{queued}.run();
  return type == element::float32 ? dispatch(kind, sorted_call<float>{queued})
                                  : dispatch(kind, sorted_call<pair>{queued});
}

}  // namespace cub_calls
