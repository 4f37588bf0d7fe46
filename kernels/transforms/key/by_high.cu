// SPDX-License-Identifier: Apache-2.0
// Integers of 128 bits by their upper half.
#include <cstdint>

#include <fatlink/typed_hooks.cuh>

struct wide {
  std::uint64_t low;
  std::uint64_t high;
};

FATLINK_KEY(wide, x)
{
  return x.high;
}
