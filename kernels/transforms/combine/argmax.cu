// SPDX-License-Identifier: Apache-2.0
// The largest value and its place: the first of equal ones.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct best {
  float value;
  std::int32_t index;
};

FATLINK_COMBINE(best, a, b)
{
  return b.value > a.value ? b : a;
}
