// SPDX-License-Identifier: Apache-2.0
// The median of three points: removes single outliers. NaN where one of them is NaN.
extern "C" __device__ float stencil_point(float const* center, void const* /*state*/)
{
  auto const left = center[-1];
  auto const middle = center[0];
  auto const right = center[1];
  // fminf and fmaxf return the number of a number and NaN.
  if (isnan(left) || isnan(middle) || isnan(right)) return left + middle + right;
  return fmaxf(fminf(left, right), fminf(fmaxf(left, right), middle));
}
