// SPDX-License-Identifier: Apache-2.0
// The product of complex numbers.
#include <fatlink/typed_hooks.cuh>

struct complex {
  float real;
  float imaginary;
};

FATLINK_MAP2(complex, complex, a, complex, b)
{
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
