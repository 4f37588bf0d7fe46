// SPDX-License-Identifier: Apache-2.0
// Points in the cube around the origin that reaches as far as the state says; without a state, 4.
#include <fatlink/typed_hooks.cuh>

struct alignas(16) weighted_point {
  float x;
  float y;
  float z;
  float weight;
};

FATLINK_KEEP(weighted_point, point)
{
  auto const limit = state == nullptr ? 4.0F : *static_cast<float const*>(state);
  return fabsf(point.x) <= limit && fabsf(point.y) <= limit && fabsf(point.z) <= limit;
}
