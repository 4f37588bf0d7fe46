// SPDX-License-Identifier: Apache-2.0
#include "device/texture_checks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr device_address k_alignment = 512;  // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
/// CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH of sm_80, sm_90 and sm_100. Where it is 2^27,
/// the driver refuses more.
constexpr std::size_t k_max_indexed = std::size_t{1} << 28;
constexpr std::size_t k_max_width = 131072;  // the programming guide, "Compute Capabilities"
constexpr std::size_t k_max_height = 65000;  // the same
constexpr std::size_t k_max_row_bytes =
    2'097'120;  // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH

[[noreturn]] void fail_texture(std::string message, std::string hint)
{
  fail_use(std::move(message), "texture", std::move(hint));
}

bool is_floating(channel_type type) noexcept
{
  return type == channel_type::f16 || type == channel_type::f32;
}

bool is_wide_integer(channel_type type) noexcept
{
  return type == channel_type::u32 || type == channel_type::s32;
}

bool uses_border(texture_options const& options) noexcept
{
  return std::ranges::find(options.address, address_mode::border) != options.address.end();
}

void check_enumerators(texture_options const& options)
{
  for (auto const mode : options.address)
    if (mode < address_mode::wrap || mode > address_mode::border)
      fail_texture(detail::format("address mode {} does not exist", static_cast<int>(mode)),
                   "use wrap, clamp, mirror or border");
  if (options.filter != filter_mode::point && options.filter != filter_mode::linear)
    fail_texture(detail::format("filter mode {} does not exist", static_cast<int>(options.filter)),
                 "use point or linear");
}

void check_integers(texel_format const& format, texture_options const& options)
{
  if (options.filter == filter_mode::linear)
    fail_texture(detail::format("texels of {} that are read as integers cannot be interpolated",
                                to_string(format.type)),
                 "use filter_mode::point, channels of f16 or f32, or reads_normalized with 8 or 16 "
                 "bits");
  // The bits of -0.0 are not those of the integer 0.
  auto const has_bits = [](float value) { return std::bit_cast<std::uint32_t>(value) != 0; };
  if (uses_border(options) && std::ranges::any_of(options.border, has_bits))
    fail_texture(detail::format("texels of {} that are read as integers have border 0",
                                to_string(format.type)),
                 "leave texture_options::border 0, or read floats");
}

void check_address(device_address address)
{
  if (address % k_alignment == 0) return;
  fail_texture(detail::format("texels at {:#x} are not aligned to {} bytes", address, k_alignment),
               "allocate a buffer for the texels");
}

}  // namespace

texture_options checked_options(texel_format const& format, texture_options options)
{
  check_enumerators(options);
  if (options.reads_normalized && is_wide_integer(format.type))
    fail_texture(
        detail::format("texels of {} cannot be read as normalized floats", to_string(format.type)),
        "use integers of 8 or 16 bits, or leave reads_normalized unset");
  if (!is_floating(format.type) && !options.reads_normalized) check_integers(format, options);
  if (options.has_normalized_coordinates) return options;
  for (auto& mode : options.address)
    if (mode != address_mode::border) mode = address_mode::clamp;
  return options;
}

texture_options checked_options(texel_format const& format, array_shape const& shape,
                                texture_options const& options)
{
  if (shape.is_cubemap && !options.has_normalized_coordinates)
    fail_texture("a cubemap is read by directions, not by numbers of texels",
                 "set texture_options::has_normalized_coordinates");
  return checked_options(format, options);
}

linear_texels checked_texels(device_address address, std::size_t bytes, texel_format const& format)
{
  auto const size = texel_bytes(format);
  check_address(address);
  if (bytes == 0 || bytes % size != 0)
    fail_texture(detail::format("a buffer of {} bytes is no whole number of texels of {} bytes",
                                bytes, size),
                 "allocate at least one texel, and whole texels");
  if (bytes / size > k_max_indexed)
    fail_texture(detail::format("{} texels of linear memory are more than the {} that are read by "
                                "index",
                                bytes / size, k_max_indexed),
                 "use several textures, or pass a pitched_shape");
  return {.address = address, .format = format, .width = bytes / size};
}

void check_indexed(texture_options const& options)
{
  if (options.filter == filter_mode::point && !options.has_normalized_coordinates &&
      !uses_border(options))
    return;
  fail_texture(
      "texels of linear memory are read by index: they have no filter, normalized "
      "coordinates or border",
      "use an array, or pass a pitched_shape");
}

linear_texels checked_texels(device_address address, std::size_t bytes, texel_format const& format,
                             pitched_shape const& shape)
{
  auto const& [width, height, row_bytes] = shape;
  check_address(address);
  auto const size = texel_bytes(format);
  if (width == 0 || width > k_max_width || height == 0 || height > k_max_height)
    fail_texture(detail::format("linear memory cannot have {} rows of {} texels", height, width),
                 detail::format("use 1 to {} rows of 1 to {} texels", k_max_height, k_max_width));
  if (row_bytes % k_row_alignment != 0 || row_bytes > k_max_row_bytes || row_bytes < width * size)
    fail_texture(detail::format("rows of {} texels of {} bytes cannot be {} bytes apart", width,
                                size, row_bytes),
                 detail::format("use a multiple of {} bytes, at least a row and at most {}",
                                k_row_alignment, k_max_row_bytes));
  if (bytes < (height - 1) * row_bytes + width * size)
    fail_texture(detail::format("{} rows that are {} bytes apart exceed a buffer of {} bytes",
                                height, row_bytes, bytes),
                 "allocate a larger buffer");
  return {.address = address,
          .format = format,
          .width = width,
          .height = height,
          .row_bytes = row_bytes};
}

}  // namespace fatlink::detail
