// SPDX-License-Identifier: Apache-2.0
// x / (1 + |x|).
extern "C" __device__ float user_transform(float x)
{
  return x / (1.0F + fabsf(x));
}
