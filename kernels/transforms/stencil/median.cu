// SPDX-License-Identifier: Apache-2.0
// The median of three points: removes single outliers.
extern "C" __device__ float stencil_point(float const* center, void const* /*state*/)
{
  auto const low = fminf(center[-1], center[1]);
  auto const high = fmaxf(center[-1], center[1]);
  return fmaxf(low, fminf(high, center[0]));
}
