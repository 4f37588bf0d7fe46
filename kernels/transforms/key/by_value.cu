// SPDX-License-Identifier: Apache-2.0
// Pairs by their value; 32 bits.
#include <cstdint>

#include <fatlink/typed_hooks.cuh>

struct pair {
  float value;
  std::int32_t index;
};

FATLINK_KEY(pair, x)
{
  return fatlink::ascending(x.value);
}
