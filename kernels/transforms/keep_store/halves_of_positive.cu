// SPDX-License-Identifier: Apache-2.0
// The positive numbers as float16.
#include <cuda_fp16.h>
#include <fatlink/typed_hooks.cuh>

FATLINK_KEEP(float, x)
{
  return x > 0;
}

FATLINK_STORE(__half, float, x)
{
  return __float2half_rn(x);
}
