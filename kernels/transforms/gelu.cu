// SPDX-License-Identifier: Apache-2.0
// x Φ(x), Φ the standard normal distribution: the exact GELU. normcdff, not erfcf(−x/√2): the
// rounded argument alone would cost a hundred ULP in the tail.
extern "C" __device__ float user_transform(float x)
{
  return x * normcdff(x);
}
