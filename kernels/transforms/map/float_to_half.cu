// SPDX-License-Identifier: Apache-2.0
// float to float16, rounded to nearest even.
#include <cuda_fp16.h>
#include <fatlink/typed_hooks.cuh>

FATLINK_MAP1(__half, float, x)
{
  return __float2half_rn(x);
}
