// SPDX-License-Identifier: Apache-2.0
// Ascending; of arrays without NaN.
#include <cuda_fp16.h>
#include <fatlink/typed_hooks.cuh>

FATLINK_LESS(__half, a, b)
{
  return __half2float(a) < __half2float(b);
}
