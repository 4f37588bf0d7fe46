// SPDX-License-Identifier: Apache-2.0
// Ascending integers of 128 bits.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct wide {
  std::uint64_t low;
  std::uint64_t high;
};

FATLINK_LESS(wide, a, b)
{
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}
