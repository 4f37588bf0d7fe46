// SPDX-License-Identifier: Apache-2.0
// One call of CUB, and the operators that several of its algorithms take.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cub_calls.hpp"

namespace cub_calls {

/// The struct of 8 bytes: a value with its index.
struct pair {
  float value;
  int index;
};
struct matrix {
  unsigned a, b;  // the first row
  unsigned c, d;
};

struct add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
/// Of equal values the first index: the result does not depend on the order of the calls.
struct best_of {
  __device__ pair operator()(pair a, pair b) const
  {
    auto const is_later = b.value > a.value || (b.value == a.value && b.index < a.index);
    return is_later ? b : a;
  }
};
/// Exact, modulo 2^32.
struct multiply_matrices {
  __device__ matrix operator()(matrix x, matrix y) const
  {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d,  //
            x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
};
struct is_less {
  __device__ bool operator()(float a, float b) const { return a < b; }
  __device__ bool operator()(pair a, pair b) const
  {
    return a.value < b.value || (a.value == b.value && a.index < b.index);
  }
};
/// The operator of folds and scans.
template <typename Element>
struct combine_of;
template <>
struct combine_of<float> {
  using type = add;
};
template <>
struct combine_of<pair> {
  using type = best_of;
};
template <>
struct combine_of<matrix> {
  using type = multiply_matrices;
};

/// One call of CUB, or with scratch == nullptr the question for `bytes`.
struct call {
  arrays const& data;
  void* scratch;
  std::size_t& bytes;
  cudaStream_t where;

  [[nodiscard]] int n() const { return static_cast<int>(data.n); }
};

/// Algorithms on runs of equal keys.
cudaError_t call_by_key(algorithm kind, element type, call const& queued);
/// Algorithms on sorted arrays, and sorts of parts of an array.
cudaError_t call_in_order(algorithm kind, element type, call const& queued);

}  // namespace cub_calls
