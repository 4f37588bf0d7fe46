// SPDX-License-Identifier: Apache-2.0
// The sum modulo 2^32.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_COMBINE(std::int32_t, a, b)
{
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
