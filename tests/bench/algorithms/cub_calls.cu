// SPDX-License-Identifier: Apache-2.0
#include "cub_calls.hpp"

#include <thrust/iterator/transform_iterator.h>

#include <cstdint>
#include <cub/cub.cuh>
#include <cuda/std/tuple>

#include "cub_operators.cuh"
#include "cuda_check.cuh"

namespace cub_calls {
namespace {

struct point {
  float x, y;
};

struct square {
  __device__ float operator()(float x) const { return x * x; }
};
struct is_positive {
  __device__ bool operator()(float x) const { return x > 0; }
  __device__ bool operator()(pair x) const { return x.value > 0; }
};
struct scale_add {
  __device__ float operator()(float x) const { return fmaf(2.0F, x, 1.0F); }
};
struct multiply_complex {
  __device__ point operator()(point a, point b) const
  {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
  }
};
/// The field by which CUB's radix sort orders a pair.
struct value_of {
  __host__ __device__ cuda::std::tuple<float&> operator()(pair& x) const { return {x.value}; }
};
/// The cell of a grid of 16 by 16; 256 outside of it.
struct cell_of {
  __device__ int operator()(point p) const
  {
    auto const column = p.x + 8.0F;
    auto const row = p.y + 8.0F;
    auto const is_inside = column >= 0.0F && column < 16.0F && row >= 0.0F && row < 16.0F;
    return is_inside ? static_cast<int>(row) * 16 + static_cast<int>(column) : 256;
  }
};

struct is_in_first_part {
  __device__ bool operator()(std::uint8_t x) const { return x % 3 == 0; }
  __device__ bool operator()(float x) const { return x < 0; }
  __device__ bool operator()(pair x) const { return x.value < 0; }
};
struct is_in_second_part {
  __device__ bool operator()(std::uint8_t x) const { return x % 3 == 1; }
  __device__ bool operator()(float x) const { return x == 0; }
  __device__ bool operator()(pair x) const { return x.value >= 0 && x.value <= 1; }
};

struct element_call : call {
  template <typename Element>
  cudaError_t reduce() const
  {
    return cub::DeviceReduce::Reduce(scratch, bytes, static_cast<Element const*>(data.in),
                                     static_cast<Element*>(data.out), n(),
                                     typename combine_of<Element>::type{}, Element{}, where);
  }
  cudaError_t transform_reduce() const
  {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, static_cast<float const*>(data.in),
                                              static_cast<float*>(data.out), n(), add{}, square{},
                                              0.0F, where);
  }
  template <typename Element>
  cudaError_t scan() const
  {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, static_cast<Element const*>(data.in),
                                          static_cast<Element*>(data.out),
                                          typename combine_of<Element>::type{}, n(), where);
  }
  template <typename Element>
  cudaError_t exclusive_scan() const
  {
    return cub::DeviceScan::ExclusiveScan(
        scratch, bytes, static_cast<Element const*>(data.in), static_cast<Element*>(data.out),
        typename combine_of<Element>::type{}, Element{}, n(), where);
  }
  template <typename Element>
  cudaError_t select() const
  {
    return cub::DeviceSelect::If(scratch, bytes, static_cast<Element const*>(data.in),
                                 static_cast<Element*>(data.out), data.count, n(), is_positive{},
                                 where);
  }
  template <typename Element>
  cudaError_t segmented_reduce() const
  {
#if CUB_VERSION >= 300500
    // With the largest segment, as fill_offsets makes them: CUB chooses its kernel by it. Without,
    // which is all that its documented functions offer, a block folds each segment.
    auto const longest = data.n / data.segments / 2 * 3 + 1;
    return cub::detail::segmented_reduce::dispatch(
        scratch, bytes, static_cast<Element const*>(data.in), static_cast<Element*>(data.out),
        static_cast<long long>(data.segments), data.offsets, data.offsets + 1,
        typename combine_of<Element>::type{}, Element{}, longest, where);
#else
    return cub::DeviceSegmentedReduce::Reduce(
        scratch, bytes, static_cast<Element const*>(data.in), static_cast<Element*>(data.out),
        static_cast<long long>(data.segments), data.offsets, data.offsets + 1,
        typename combine_of<Element>::type{}, Element{}, where);
#endif
  }
  cudaError_t histogram_of_floats() const
  {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, static_cast<float const*>(data.in),
                                               static_cast<unsigned long long*>(data.out), 257,
                                               -8.0F, 8.0F, n(), where);
  }
  cudaError_t histogram_of_points() const
  {
    auto const cells =
        thrust::make_transform_iterator(static_cast<point const*>(data.in), cell_of{});
    return cub::DeviceHistogram::HistogramEven(
        scratch, bytes, cells, static_cast<unsigned long long*>(data.out), 257, 0, 256, n(), where);
  }
  cudaError_t map_floats() const
  {
    if (scratch == nullptr) return cudaSuccess;
    return cub::DeviceTransform::Transform(static_cast<float const*>(data.in),
                                           static_cast<float*>(data.out), n(), scale_add{}, where);
  }
  cudaError_t map_points() const
  {
    if (scratch == nullptr) return cudaSuccess;
    return cub::DeviceTransform::Transform(
        cuda::std::make_tuple(static_cast<point const*>(data.in),
                              static_cast<point const*>(data.second)),
        static_cast<point*>(data.out), n(), multiply_complex{}, where);
  }
  template <typename Element>
  cudaError_t sort() const
  {
    return cub::DeviceMergeSort::StableSortKeysCopy(
        scratch, bytes, static_cast<Element const*>(data.in), static_cast<Element*>(data.out), n(),
        is_less{}, where);
  }

  cudaError_t radix_sort_floats() const
  {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, static_cast<float const*>(data.in),
                                          static_cast<float*>(data.out), n(), 0, 32, where);
  }
  cudaError_t radix_sort_pairs() const
  {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, static_cast<pair const*>(data.in),
                                          static_cast<pair*>(data.out), n(), value_of{}, 0, 32,
                                          where);
  }

  template <typename Element>
  cudaError_t partition3() const
  {
    return cub::DevicePartition::If(
        scratch, bytes, static_cast<Element const*>(data.in), static_cast<Element*>(data.out),
        static_cast<Element*>(data.second_out), static_cast<Element*>(data.third_out), data.count,
        n(), is_in_first_part{}, is_in_second_part{}, where);
  }
};

template <typename Element>
cudaError_t dispatch(algorithm kind, element_call const& queued)
{
  constexpr auto k_is_float = sizeof(Element) == sizeof(float);
  switch (kind) {
    case algorithm::reduce:
      return queued.reduce<Element>();
    case algorithm::transform_reduce:
      return queued.transform_reduce();
    case algorithm::scan:
      return queued.scan<Element>();
    case algorithm::exclusive_scan:
      return queued.exclusive_scan<Element>();
    case algorithm::select:
      return queued.select<Element>();
    case algorithm::segmented_reduce:
      return queued.segmented_reduce<Element>();
    case algorithm::histogram:
      return k_is_float ? queued.histogram_of_floats() : queued.histogram_of_points();
    case algorithm::map:
      return k_is_float ? queued.map_floats() : queued.map_points();
    case algorithm::sort:
      return queued.sort<Element>();
    case algorithm::radix_sort:
      return k_is_float ? queued.radix_sort_floats() : queued.radix_sort_pairs();
    case algorithm::partition3:
      return queued.partition3<Element>();
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t dispatch(algorithm kind, element type, call const& queued)
{
  switch (kind) {
    case algorithm::reduce_by_key:
    case algorithm::scan_by_key:
    case algorithm::unique_by_key:
    case algorithm::run_lengths:
      return call_by_key(kind, type, queued);
    case algorithm::merge:
    case algorithm::lower_bound:
    case algorithm::upper_bound:
    case algorithm::top_k:
    case algorithm::segmented_sort:
      return call_in_order(kind, type, queued);
    default:
      break;
  }
  element_call const own{queued};
  if (type == element::uint8 && kind == algorithm::partition3)
    return own.partition3<std::uint8_t>();
  return type == element::float32 ? dispatch<float>(kind, own) : dispatch<pair>(kind, own);
}

void call_cub(algorithm kind, element type, call const& queued)
{
  check(dispatch(kind, type, queued), "a call of CUB");
}

}  // namespace

std::size_t scratch_bytes(algorithm kind, element type, arrays const& data)
{
  std::size_t bytes = 1;
  call_cub(kind, type, {data, nullptr, bytes, nullptr});
  return bytes;
}

void run(algorithm kind, element type, arrays const& data, stream where)
{
  auto bytes = data.scratch_bytes;
  call_cub(kind, type, {data, data.scratch, bytes, static_cast<cudaStream_t>(where)});
}

}  // namespace cub_calls
