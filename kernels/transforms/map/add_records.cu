// SPDX-License-Identifier: Apache-2.0
// The sum of three records of 32 bytes, modulo 2^64.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct record {
  std::uint64_t a, b, c, d;
};

FATLINK_MAP3(record, record, x, record, y, record, z)
{
  return {x.a + y.a + z.a, x.b + y.b + z.b, x.c + y.c + z.c, x.d + y.d + z.d};
}
