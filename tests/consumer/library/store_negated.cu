// SPDX-License-Identifier: Apache-2.0
extern "C" __device__ void store_element(float* out, unsigned long long index, float value)
{
  out[index] = -value;
}
