// SPDX-License-Identifier: Apache-2.0
extern "C" __device__ void store_element(float* to, unsigned long long index, float value)
{
  to[index] = -value;
}
