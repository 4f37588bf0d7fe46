// SPDX-License-Identifier: Apache-2.0
// A bin for each byte.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_BIN(std::uint8_t, x)
{
  return x;
}
