// SPDX-License-Identifier: Apache-2.0
#include "device/reference_textures.hpp"

#include <algorithm>
#include <cstring>

#include "device/reference_failure.hpp"
#include "interpreter/decode/address_space.hpp"

namespace fatlink::detail {
namespace {

interpreter::texel_layout layout_of(texel_format const& format)
{
  auto const bits = static_cast<unsigned>(texel_bytes(format)) * 8 / format.channels;
  auto const make = [&](interpreter::texel_kind kind) {
    return interpreter::texel_layout{.channels = format.channels, .bits = bits, .kind = kind};
  };
  switch (format.type) {
    case channel_type::u8:
    case channel_type::u16:
    case channel_type::u32:
      return make(interpreter::texel_kind::unsigned_integer);
    case channel_type::s8:
    case channel_type::s16:
    case channel_type::s32:
      return make(interpreter::texel_kind::signed_integer);
    case channel_type::f16:
    case channel_type::f32:
      break;
  }
  return make(interpreter::texel_kind::floating);
}

/// Rows begin at multiples of the largest access of a surface, so that an access which is aligned
/// in its row is aligned.
interpreter::image_layout layout_of(texel_format const& format, array_shape const& shape)
{
  constexpr std::size_t k_alignment = 16;
  return {.texels = layout_of(format),
          .width = shape.width,
          .height = shape.height,
          .depth = shape.depth,
          .layers = shape.layers,
          .is_cube = shape.is_cubemap,
          .row_bytes = interpreter::aligned(shape.width * texel_bytes(format), k_alignment),
          .allows_surface = shape.allows_surface,
          .allows_gather = shape.allows_gather};
}

interpreter::image image_of(reference_array const& array)
{
  return {.address = array.texels.base, .layout = array.layout};
}

interpreter::image image_of(linear_texels const& texels)
{
  auto const is_indexed = texels.height == 0;
  return {.address = texels.address,
          .layout = {.texels = layout_of(texels.format),
                     .width = texels.width,
                     .height = texels.height,
                     .row_bytes =
                         is_indexed ? texels.width * texel_bytes(texels.format) : texels.row_bytes,
                     .is_linear = is_indexed,
                     .is_pitched = !is_indexed}};
}

interpreter::address_mode mode_of(address_mode mode) noexcept
{
  switch (mode) {
    case address_mode::wrap:
      return interpreter::address_mode::wrap;
    case address_mode::mirror:
      return interpreter::address_mode::mirror;
    case address_mode::border:
      return interpreter::address_mode::border;
    case address_mode::clamp:
      break;
  }
  return interpreter::address_mode::clamp;
}

interpreter::sampler sampler_of(texture_options const& options)
{
  interpreter::sampler sampler{.is_linear_filter = options.filter == filter_mode::linear,
                               .has_normalized_coordinates = options.has_normalized_coordinates,
                               .reads_normalized = options.reads_normalized,
                               .border = options.border};
  std::ranges::transform(options.address, sampler.modes.begin(), mode_of);
  return sampler;
}

/// Calls `copy_row` with each row in the array, and where it is in texels without padding.
template <typename CopyRow>
void each_row(reference_array const& array, std::size_t size, CopyRow const& copy_row)
{
  auto const& layout = array.layout;
  auto const row_size = layout.width * layout.texels.bytes();
  for (std::size_t row = 0; (row + 1) * row_size <= size; ++row)
    copy_row(array.texels.data + row * layout.row_bytes, row * row_size, row_size);
}

}  // namespace

std::unique_ptr<reference_array> reference_textures::create_array(texel_format const& format,
                                                                  array_shape const& shape)
{
  auto array = std::make_unique<reference_array>();
  array->layout = layout_of(format, shape);
  array->texels =
      translate_failures([&] { return memory_->allocate(array->layout.bytes(), "an array"); });
  return array;
}

void reference_textures::destroy_array(std::unique_ptr<reference_array> array) noexcept
{
  memory_->release(array->texels.base);
}

void reference_textures::write_array(reference_array const& array, bytes_view texels)
{
  each_row(array, texels.size(), [&](std::byte* row, std::size_t place, std::size_t bytes) {
    std::memcpy(row, texels.data() + place, bytes);
  });
}

void reference_textures::read_array(reference_array const& array, std::span<std::byte> texels)
{
  each_row(array, texels.size(), [&](std::byte const* row, std::size_t place, std::size_t bytes) {
    std::memcpy(texels.data() + place, row, bytes);
  });
}

std::uint64_t reference_textures::create_texture(reference_array const& array,
                                                 texture_options const& options)
{
  return memory_->textures().add_texture(image_of(array), sampler_of(options));
}

std::uint64_t reference_textures::create_texture(linear_texels const& texels,
                                                 texture_options const& options)
{
  return memory_->textures().add_texture(image_of(texels), sampler_of(options));
}

std::uint64_t reference_textures::create_surface(reference_array const& array)
{
  return memory_->textures().add_surface(image_of(array));
}

}  // namespace fatlink::detail
