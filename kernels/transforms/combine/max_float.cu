// SPDX-License-Identifier: Apache-2.0
// The larger of two numbers; the first of equal ones.
#include <fatlink/typed_hooks.cuh>

FATLINK_COMBINE(float, a, b)
{
  return a < b ? b : a;
}
