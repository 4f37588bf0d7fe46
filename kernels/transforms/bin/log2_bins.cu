// SPDX-License-Identifier: Apache-2.0
// Bin k counts the numbers from 2^(k - 1) to 2^k - 1; bin 0 counts 0.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_BIN(std::uint64_t, x)
{
  return 64U - static_cast<unsigned>(__clzll(static_cast<long long>(x)));
}
