// SPDX-License-Identifier: Apache-2.0
// The sum of two arrays.
#include <fatlink/typed_hooks.cuh>

FATLINK_MAP2(float, float, a, float, b)
{
  return a + b;
}
