// SPDX-License-Identifier: Apache-2.0
// How many numbers are above the threshold of the state; without a state, above 0.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

FATLINK_LOAD(std::uint64_t, float, x)
{
  auto const threshold = state == nullptr ? 0.0F : *static_cast<float const*>(state);
  return x > threshold ? 1 : 0;
}

FATLINK_COMBINE(std::uint64_t, a, b)
{
  return a + b;
}
