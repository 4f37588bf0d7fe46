// SPDX-License-Identifier: Apache-2.0
// A texture as a warp reads it: by texel, by the nearest one, filtered, or four of them.
#pragma once

#include <array>
#include <cstdint>

#include "interpreter/instructions/texture/bound_image.hpp"
#include "interpreter/instructions/texture/sample_place.hpp"
#include "interpreter/instructions/texture/texel.hpp"

namespace fatlink::interpreter {

/// A place that floating-point coordinates name. `slice`: the layer or face, 0 if there is none.
struct sample_point {
  std::array<float, 3> coordinates = {};
  std::array<std::int32_t, 3> offsets = {};  ///< texels
  std::uint64_t slice = 0;
};

class texture_view {
 public:
  texture_view() = default;
  texture_view(warp& w, operation const& o, bound_image const& image) noexcept;

  [[nodiscard]] bound_image const& image() const noexcept { return image_; }
  [[nodiscard]] bool reads_floats() const noexcept { return reads_floats_; }
  [[nodiscard]] bool filters() const noexcept { return filters_; }
  /// The texel of an index in each dimension, or the border.
  [[nodiscard]] texel at(std::array<std::int64_t, 3> const& index, std::uint64_t slice,
                         unsigned lane) const;
  /// As the texture's filter states.
  [[nodiscard]] texel sample(sample_point const& point, unsigned lane) const;
  /// The four texels that the linear filter reads of a plane: counter-clockwise, from (0, 1).
  [[nodiscard]] std::array<texel, 4> gather(sample_point const& point, unsigned lane) const;

 private:
  [[nodiscard]] texel nearest_texel(sample_point const& point, unsigned lane) const;
  [[nodiscard]] texel filtered(sample_point const& point, unsigned lane) const;
  template <unsigned Dimensions>
  [[nodiscard]] texel filtered_in(sample_point const& point, unsigned lane) const;
  [[nodiscard]] texel border() const noexcept;

  warp* warp_ = nullptr;
  operation const* operation_ = nullptr;
  bound_image image_ = {};
  texel_reader read_ = nullptr;
  bool reads_floats_ = false;
  bool filters_ = false;
  unsigned dimensions_ = 1;  ///< of a slice
  std::array<axis, 3> axes_ = {};
};

}  // namespace fatlink::interpreter
