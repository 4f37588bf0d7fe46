// SPDX-License-Identifier: Apache-2.0
// Which texels a floating-point coordinate reads: address modes, the footprint of the linear
// filter, the face of a cube.
// Source: CUDA Programming Guide 13.0, "Texture Fetching", "Cubemap Textures".
#pragma once

#include <array>
#include <cstdint>

#include "interpreter/execution/textures.hpp"

namespace fatlink::interpreter {

constexpr std::int64_t k_border = -1;  ///< instead of the index of a texel: the border's colour

/// A dimension of an image.
struct axis {
  std::int64_t size = 1;  ///< texels
  address_mode mode = address_mode::clamp;
  bool is_normalized = false;  ///< coordinates from 0 to 1
};

/// Of dimension 0 to 2. Without normalized coordinates, wrap and mirror are clamp.
axis axis_of(image_layout const& layout, sampler const& sampler, unsigned dimension) noexcept;

/// The texel that the address mode puts in place of `index`, or k_border.
std::int64_t texel_at(axis const& axis, std::int64_t index) noexcept;

/// The texel that a coordinate is in. `offset`: texels that are added.
std::int64_t nearest(axis const& axis, float coordinate, std::int32_t offset) noexcept;

/// Two texels that are next to each other before the address mode, and the second one's weight: a
/// multiple of 1/256, below 1.
struct neighbours {
  std::int64_t first = 0;
  std::int64_t second = 0;
  double weight = 0;
};
neighbours around(axis const& axis, float coordinate, std::int32_t offset) noexcept;

/// A face of a cube, 0 to 5, and the coordinates on it, 0 to 1.
struct cube_place {
  unsigned face = 0;
  float s = 0;
  float t = 0;
};
cube_place on_cube(float x, float y, float z) noexcept;

}  // namespace fatlink::interpreter
