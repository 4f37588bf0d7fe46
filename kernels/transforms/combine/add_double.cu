// SPDX-License-Identifier: Apache-2.0
// The sum.
#include <fatlink/typed_hooks.cuh>

FATLINK_COMBINE(double, a, b)
{
  return a + b;
}
