// SPDX-License-Identifier: Apache-2.0
// The sum of the squares.
#include <fatlink/typed_hooks.cuh>

FATLINK_LOAD(float, float, x)
{
  return x * x;
}

FATLINK_COMBINE(float, a, b)
{
  return a + b;
}
