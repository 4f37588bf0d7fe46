// SPDX-License-Identifier: Apache-2.0
// max(0, x² + 3x − 1), NaN for NaN. Factored at its roots (−3 ± √13) / 2, each held as two
// floats: the sum x² + 3x − 1 cancels there and would lose every digit.
extern "C" __device__ float user_transform(float x)
{
  constexpr float upper = 0.302775651F, upper_rest = -1.34845122e-8F;
  constexpr float lower = -3.30277562F, lower_rest = -1.63178093e-8F;
  float const y = ((x - upper) - upper_rest) * ((x - lower) - lower_rest);
  return y < 0.0F ? 0.0F : y;
}
