// SPDX-License-Identifier: Apache-2.0
// Ascending.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_LESS(std::uint8_t, a, b)
{
  return a < b;
}
