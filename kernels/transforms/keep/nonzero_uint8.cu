// SPDX-License-Identifier: Apache-2.0
// Elements other than 0.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_KEEP(std::uint8_t, x)
{
  return x != 0;
}
