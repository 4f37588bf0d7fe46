// SPDX-License-Identifier: Apache-2.0
// The larger of two numbers; the first of equal ones.
#include <cuda_fp16.h>
#include <fatlink/typed_hooks.cuh>

FATLINK_COMBINE(__half, a, b)
{
  return __half2float(a) < __half2float(b) ? b : a;
}
