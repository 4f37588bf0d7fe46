// SPDX-License-Identifier: Apache-2.0
// The sum of bytes modulo 2^16: a checksum.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_LOAD(std::uint16_t, std::uint8_t, x)
{
  return x;
}

FATLINK_COMBINE(std::uint16_t, a, b)
{
  return static_cast<std::uint16_t>(a + b);
}
