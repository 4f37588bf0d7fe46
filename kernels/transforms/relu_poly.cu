// SPDX-License-Identifier: Apache-2.0
// max(0, x² + 3x − 1); NaN for NaN. The polynomial is factored at its roots (−3 ± √13) / 2, each
// represented by two floats, because the sum x² + 3x − 1 loses all digits to cancellation there.
extern "C" __device__ float user_transform(float x)
{
  constexpr float upper = 0.302775651F, upper_rest = -1.34845122e-8F;
  constexpr float lower = -3.30277562F, lower_rest = -1.63178093e-8F;
  float const y = ((x - upper) - upper_rest) * ((x - lower) - lower_rest);
  return y < 0.0F ? 0.0F : y;
}
