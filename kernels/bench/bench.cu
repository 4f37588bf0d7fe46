// SPDX-License-Identifier: Apache-2.0
// What `fatlink bench` compares a link with: the same kernel and relu_poly compiled as one
// source, and the same kernel calling relu_poly through a function pointer.
#define user_transform bench_transform
#include "../transforms/relu_poly.cu"
#undef user_transform

#include "../apply_transform/elementwise.cuh"

using transform_pointer = float (*)(float);

// Read through volatile, so that no compiler calls the function directly.
__device__ transform_pointer chosen_transform = bench_transform;

extern "C" __global__ void apply_transform_single(float const* in, float* out, std::size_t n)
{
  elementwise(in, out, n, [](float x) { return bench_transform(x); });
}

extern "C" __global__ void apply_transform_pointer(float const* in, float* out, std::size_t n)
{
  auto const f = *const_cast<transform_pointer volatile*>(&chosen_transform);
  elementwise(in, out, n, [f](float x) { return f(x); });
}
