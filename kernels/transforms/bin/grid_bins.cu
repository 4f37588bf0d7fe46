// SPDX-License-Identifier: Apache-2.0
// The cells of a grid of 16 by 16 for points of the plane, row by row. The state says where it
// begins and how wide its cells are; without a state it begins at (−8, −8), and cells are 1 by 1.
#include <fatlink/typed_hooks.cuh>

struct point {
  float x, y;
};

struct grid {
  float low;
  float width;
};

FATLINK_BIN(point, p)
{
  auto const cells = state == nullptr ? grid{-8.0F, 1.0F} : *static_cast<grid const*>(state);
  auto const column = (p.x - cells.low) / cells.width;
  auto const row = (p.y - cells.low) / cells.width;
  auto const is_inside = column >= 0.0F && column < 16.0F && row >= 0.0F && row < 16.0F;
  return is_inside ? static_cast<unsigned>(row) * 16 + static_cast<unsigned>(column) : ~0U;
}
