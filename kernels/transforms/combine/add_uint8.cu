// SPDX-License-Identifier: Apache-2.0
// The sum modulo 256.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_COMBINE(std::uint8_t, a, b)
{
  return static_cast<std::uint8_t>(a + b);
}
