// SPDX-License-Identifier: Apache-2.0
// Bin k counts the numbers from 2^(k - 1) to 2^k - 1; bin 0 counts 0.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_BIN(std::uint32_t, x)
{
  return 32U - static_cast<unsigned>(__clz(static_cast<int>(x)));
}
