// SPDX-License-Identifier: Apache-2.0
// Numbers greater than 0.
#include <fatlink/typed_hooks.cuh>

FATLINK_KEEP(float, x)
{
  return x > 0;
}
