// SPDX-License-Identifier: Apache-2.0
// Numbers: neither infinite nor NaN.
#include <cuda_fp16.h>
#include <fatlink/typed_hooks.cuh>

FATLINK_KEEP(__half, x)
{
  return fabsf(__half2float(x)) <= 65504.0F;
}
