// SPDX-License-Identifier: Apache-2.0
// The sum.
#include <fatlink/typed_hooks.cuh>

FATLINK_COMBINE(float, a, b)
{
  return a + b;
}
