// SPDX-License-Identifier: Apache-2.0
// The kernel of apply_transform that calls relu_poly through a function pointer, which
// `fatlink bench` compares with a link.
#define user_transform bench_transform
#include "../transforms/relu_poly.cu"
#undef user_transform

#include "../apply_transform/elementwise.cuh"

using transform_pointer = float (*)(float);

// Read through volatile, so that the compiler cannot call the function directly.
__device__ transform_pointer transform_address = bench_transform;

extern "C" __global__ void apply_transform_pointer(float const* in, float* out, std::size_t n)
{
  auto const f = *const_cast<transform_pointer volatile*>(&transform_address);
  elementwise(in, out, n, [f](float x) { return f(x); });
}
