// SPDX-License-Identifier: Apache-2.0
// The cells of a grid of 16 by 16, each 1 by 1, for points from (−8, −8) to (8, 8), row by row.
// Other points are not counted.
#include <fatlink/typed_hooks.cuh>

struct point {
  float x, y;
};

FATLINK_BIN(point, p)
{
  auto const column = floorf(p.x);
  auto const row = floorf(p.y);
  auto const is_inside = column >= -8.0F && column < 8.0F && row >= -8.0F && row < 8.0F;
  return is_inside ? static_cast<unsigned>(row + 8.0F) * 16 + static_cast<unsigned>(column + 8.0F)
                   : ~0U;
}
