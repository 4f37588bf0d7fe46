// SPDX-License-Identifier: Apache-2.0
// Points in the cube around the origin with half of the state's edge in each direction.
#include <fatlink/typed_hooks.cuh>

struct alignas(16) weighted_point {
  float x;
  float y;
  float z;
  float weight;
};
struct box {
  float half_edge;
};

FATLINK_KEEP(weighted_point, point)
{
  auto const limit = static_cast<box const*>(state)->half_edge;
  return fabsf(point.x) <= limit && fabsf(point.y) <= limit && fabsf(point.z) <= limit;
}
