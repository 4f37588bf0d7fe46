// SPDX-License-Identifier: Apache-2.0
// a · b + c, rounded once.
#include <fatlink/typed_hooks.cuh>

FATLINK_MAP3(float, float, a, float, b, float, c)
{
  return fmaf(a, b, c);
}
