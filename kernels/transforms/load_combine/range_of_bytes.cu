// SPDX-License-Identifier: Apache-2.0
// The smallest and the largest byte.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct range {
  std::uint8_t smallest;
  std::uint8_t largest;
};

FATLINK_LOAD(range, std::uint8_t, x)
{
  return {x, x};
}

FATLINK_COMBINE(range, a, b)
{
  return {b.smallest < a.smallest ? b.smallest : a.smallest,
          b.largest > a.largest ? b.largest : a.largest};
}
