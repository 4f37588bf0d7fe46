// SPDX-License-Identifier: Apache-2.0
// Numbers above the state's limit, as float; without a state, above 0.
#include <fatlink/typed_hooks.cuh>

FATLINK_KEEP(double, x)
{
  return x > (state == nullptr ? 0.0F : *static_cast<float const*>(state));
}

FATLINK_STORE(float, double, x)
{
  return static_cast<float>(x);
}
