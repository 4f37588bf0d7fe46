// SPDX-License-Identifier: Apache-2.0
// Descending; of arrays without NaN.
#include <fatlink/typed_hooks.cuh>

FATLINK_LESS(float, a, b)
{
  return a > b;
}
