// SPDX-License-Identifier: Apache-2.0
// The product of matrices of 2 by 2 unsigned integers: not commutative, and exact modulo 2^32.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct matrix {
  std::uint32_t a, b;  // the first row
  std::uint32_t c, d;
};

FATLINK_COMBINE(matrix, x, y)
{
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d,  //
          x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}
