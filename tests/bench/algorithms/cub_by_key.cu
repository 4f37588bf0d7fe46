// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda/std/functional>

#include "cub_operators.cuh"

namespace cub_calls {
namespace {

/// CUB has settings of its own for the sums of its library.
template <typename Value>
struct fold_of : combine_of<Value> {
};
template <>
struct fold_of<float> {
  using type = cuda::std::plus<>;
};
template <>
struct fold_of<std::uint8_t> {
  using type = cuda::std::plus<std::uint8_t>;
};

template <typename Value>
struct by_key_call : call {
  using fold = typename fold_of<Value>::type;

  cudaError_t reduce() const
  {
    return cub::DeviceReduce::ReduceByKey(scratch, bytes, keys(), data.out_keys, in(), out(),
                                          data.count, fold{}, n(), where);
  }
  cudaError_t scan() const
  {
    return cub::DeviceScan::InclusiveScanByKey(scratch, bytes, keys(), in(), out(), fold{}, n(),
                                               cuda::std::equal_to<>{}, where);
  }
  cudaError_t unique() const
  {
    return cub::DeviceSelect::UniqueByKey(scratch, bytes, keys(), in(), data.out_keys, out(),
                                          data.count, n(), where);
  }

  [[nodiscard]] int const* keys() const { return data.keys; }
  [[nodiscard]] Value const* in() const { return static_cast<Value const*>(data.in); }
  [[nodiscard]] Value* out() const { return static_cast<Value*>(data.out); }
};

cudaError_t encode(call const& queued)
{
  auto const& data = queued.data;
  return cub::DeviceRunLengthEncode::Encode(
      queued.scratch, queued.bytes, static_cast<int const*>(data.keys), data.out_keys,
      static_cast<unsigned long long*>(data.out), data.count, queued.n(), queued.where);
}

template <typename Value>
cudaError_t dispatch(algorithm kind, by_key_call<Value> const& queued)
{
  switch (kind) {
    case algorithm::reduce_by_key:
      return queued.reduce();
    case algorithm::scan_by_key:
      return queued.scan();
    case algorithm::unique_by_key:
      return queued.unique();
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t call_by_key(algorithm kind, element type, call const& queued)
{
  if (kind == algorithm::run_lengths) return encode(queued);
  switch (type) {
    case element::uint8:
      return dispatch(kind, by_key_call<std::uint8_t>{queued});
    case element::float32:
      return dispatch(kind, by_key_call<float>{queued});
    case element::pair:
      return dispatch(kind, by_key_call<pair>{queued});
    case element::matrix:
      return dispatch(kind, by_key_call<matrix>{queued});
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace cub_calls
