// SPDX-License-Identifier: Apache-2.0
// Numbers that fit a byte, as bytes.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_KEEP(std::uint16_t, x)
{
  return x < 256;
}

FATLINK_STORE(std::uint8_t, std::uint16_t, x)
{
  return static_cast<std::uint8_t>(x);
}
