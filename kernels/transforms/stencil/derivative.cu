// SPDX-License-Identifier: Apache-2.0
// The second derivative to eighth order, as finite-difference codes of wave propagation take it;
// the distance of the points is 1.
extern "C" __device__ float stencil_point(float const* center, void const* /*state*/)
{
  auto const pair = [center](int k) { return center[-k] + center[k]; };
  auto sum = -205.0F / 72.0F * center[0];
  sum = fmaf(8.0F / 5.0F, pair(1), sum);
  sum = fmaf(-1.0F / 5.0F, pair(2), sum);
  sum = fmaf(8.0F / 315.0F, pair(3), sum);
  return fmaf(-1.0F / 560.0F, pair(4), sum);
}
