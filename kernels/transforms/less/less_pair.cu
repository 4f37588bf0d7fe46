// SPDX-License-Identifier: Apache-2.0
// By value, equal values by index; of arrays without NaN.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct indexed {
  float value;
  std::int32_t index;
};

FATLINK_LESS(indexed, a, b)
{
  return a.value < b.value || (a.value == b.value && a.index < b.index);
}
