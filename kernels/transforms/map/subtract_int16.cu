// SPDX-License-Identifier: Apache-2.0
// The difference modulo 2^16.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_MAP2(std::int16_t, std::int16_t, a, std::int16_t, b)
{
  return static_cast<std::int16_t>(a - b);
}
