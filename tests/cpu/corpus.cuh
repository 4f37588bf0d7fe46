// SPDX-License-Identifier: Apache-2.0
// Shared by the corpus functions: headers, and device code that does not fit into their one-line
// bodies. Only the parts that a body uses are compiled into its function.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cassert>
#include <cstdint>
#include <cstdio>

namespace corpus {

using function = float (*)(float);

static __device__ __noinline__ float twice(float x)
{
  return x + x;
}
static __device__ __noinline__ float square(float x)
{
  return x * x;
}
static __device__ __noinline__ float negate(float x)
{
  return -x;
}
static __device__ __noinline__ float plus_one(float x)
{
  return x + 1.0F;
}
static __device__ function chosen(unsigned index)
{
  static __device__ function volatile table[4] = {twice, square, negate, plus_one};
  return table[index];
}

static __device__ float coefficient(unsigned index)
{
  static __constant__ float values[8] = {1.0F, -0.5F, 0.25F, -0.125F, 2.0F, -3.0F, 0.0F, 5.0F};
  return values[index];
}

static __device__ short offset(unsigned index)
{
  static __device__ short values[5] = {100, -200, 300, -400, 32767};
  return values[index];
}

struct four {
  float value[4];
  double scale;
  char tag;
};

static __device__ __noinline__ float sum(four by_value)
{
  return (by_value.value[0] + by_value.value[1] + by_value.value[2] + by_value.value[3]) *
         static_cast<float>(by_value.scale) * static_cast<float>(by_value.tag);
}

static __device__ __noinline__ four rotated(four input, unsigned by)
{
  four turned = input;
  for (unsigned i = 0; i < 4; ++i) turned.value[i] = input.value[(i + by) & 3];
  return turned;
}

static __device__ __noinline__ void halve(float* in_place, int count)
{
  for (int i = 0; i < count; ++i) in_place[i] *= 0.5F;
}

static __device__ __noinline__ int factorial(int n)
{
  return n < 2 ? 1 : n * factorial(n - 1);
}

/// |x| as an integer below `limit`; 0 for NaN.
static __device__ unsigned whole(float x, unsigned limit)
{
  return static_cast<unsigned>(fminf(fabsf(x == x ? x : 0.0F), static_cast<float>(limit - 1)));
}

}  // namespace corpus
