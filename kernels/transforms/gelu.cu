// SPDX-License-Identifier: Apache-2.0
// x Φ(x), where Φ is the standard normal distribution: the exact GELU. It uses normcdff because
// erfcf(−x/√2) loses a hundred ULP in the tail by rounding its argument. The error is at most
// 6 ULP, and at most 13 ULP for x below −13, where Φ(x) is a denormal number and x Φ(x) is not.
// A separate branch for those values was measured to reduce the throughput by 8 %.
extern "C" __device__ float user_transform(float x)
{
  return x * normcdff(x);
}
