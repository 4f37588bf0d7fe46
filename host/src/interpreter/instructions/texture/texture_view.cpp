// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/texture_view.hpp"

#include <algorithm>
#include <bit>

#include "interpreter/instructions/floats/float_ops.hpp"

namespace fatlink::interpreter {

texture_view::texture_view(warp& w, operation const& o, bound_image const& image) noexcept
    : warp_(&w), operation_(&o), image_(image)
{
  auto const& layout = image.layout();
  auto const& sampler = image.sampler();
  read_ = reader_of(layout.texels, normalizes(layout.texels, sampler));
  reads_floats_ = interpreter::reads_floats(layout.texels, sampler);
  filters_ = sampler.is_linear_filter && reads_floats_;
  dimensions_ = layout.depth != 0 ? 3 : layout.height != 0 ? 2 : 1;
  for (unsigned i = 0; i < dimensions_; ++i) axes_[i] = axis_of(layout, sampler, i);
}

/// Integers are the bits of the colour's floats.
texel texture_view::border() const noexcept
{
  auto color = empty_texel(reads_floats_);
  for (unsigned i = 0; i < image_.layout().texels.channels; ++i)
    color[i] = std::bit_cast<std::uint32_t>(image_.sampler().border[i]);
  return color;
}

texel texture_view::at(std::array<std::int64_t, 3> const& index, std::uint64_t slice,
                       unsigned lane) const
{
  if (std::min({index[0], index[1], index[2]}) < 0) return border();
  auto const& layout = image_.layout();
  auto const size = layout.texels.bytes();
  auto const offset = (slice + static_cast<std::uint64_t>(index[2])) * layout.slice_bytes() +
                      static_cast<std::uint64_t>(index[1]) * layout.row_bytes +
                      static_cast<std::uint64_t>(index[0]) * size;
  if (warp_->checks_accesses()) {
    auto const address = image_.object->image.address + offset;
    auto const* const source = warp_->resolve(address, size, lane, *operation_, false);
    warp_->record_read(source, size, lane, *operation_);
  }
  return read_(image_.texels + offset);
}

texel texture_view::sample(sample_point const& point, unsigned lane) const
{
  return filters_ ? filtered(point, lane) : nearest_texel(point, lane);
}

texel texture_view::nearest_texel(sample_point const& point, unsigned lane) const
{
  std::array<std::int64_t, 3> index = {};
  for (unsigned i = 0; i < dimensions_; ++i)
    index[i] = nearest(axes_[i], point.coordinates[i], point.offsets[i]);
  return at(index, point.slice, lane);
}

texel texture_view::filtered(sample_point const& point, unsigned lane) const
{
  if (dimensions_ == 1) return filtered_in<1>(point, lane);
  return dimensions_ == 2 ? filtered_in<2>(point, lane) : filtered_in<3>(point, lane);
}

/// The sum of the weighted texels, rounded once to f32; NaNs are canonical. A texel of weight 0 is
/// not read. The sum begins at -0.0, to which adding changes no number, so that texels of -0.0 keep
/// their sign.
template <unsigned Dimensions>
texel texture_view::filtered_in(sample_point const& point, unsigned lane) const
{
  std::array<neighbours, Dimensions> places = {};
  for (unsigned i = 0; i < Dimensions; ++i)
    places[i] = around(axes_[i], point.coordinates[i], point.offsets[i]);
  auto const channels = image_.layout().texels.channels;
  std::array<double, 4> sums = {-0.0, -0.0, -0.0, -0.0};
  for (unsigned corner = 0; corner < 1U << Dimensions; ++corner) {
    std::array<std::int64_t, 3> index = {};
    auto weight = 1.0;
    for (unsigned i = 0; i < Dimensions; ++i) {
      auto const is_second = (corner >> i & 1U) != 0;
      index[i] = is_second ? places[i].second : places[i].first;
      weight *= is_second ? places[i].weight : 1 - places[i].weight;
    }
    if (weight == 0) continue;
    auto const value = at(index, point.slice, lane);
    for (unsigned k = 0; k < channels; ++k)
      sums[k] += weight * static_cast<double>(std::bit_cast<float>(value[k]));
  }
  auto result = empty_texel(true);
  for (unsigned k = 0; k < channels; ++k)
    result[k] = std::bit_cast<std::uint32_t>(canonical(static_cast<float>(sums[k])));
  return result;
}

std::array<texel, 4> texture_view::gather(sample_point const& point, unsigned lane) const
{
  auto const x = around(axes_[0], point.coordinates[0], point.offsets[0]);
  auto const y = around(axes_[1], point.coordinates[1], point.offsets[1]);
  auto const read = [&](std::int64_t column, std::int64_t row) {
    return at({column, row, 0}, point.slice, lane);
  };
  return {read(x.first, y.second), read(x.second, y.second), read(x.second, y.first),
          read(x.first, y.first)};
}

}  // namespace fatlink::interpreter
