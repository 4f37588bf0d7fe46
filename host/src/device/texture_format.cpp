// SPDX-License-Identifier: Apache-2.0
#include "fatlink/texture_format.hpp"

#include <algorithm>
#include <string>

#include "device/device_checks.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// The largest width, height, and depth or layers (cubemaps: layers of faces) of a shape, on all
/// GPUs of CUDA 13. Source: the programming guide, "Technical Specifications per Compute
/// Capability".
struct largest_shape {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t depth = 0;
};

[[noreturn]] void fail_shape(std::string message, std::string hint)
{
  detail::fail_use(std::move(message), "device_array", std::move(hint));
}

largest_shape largest(array_shape const& shape) noexcept
{
  constexpr std::size_t k_side = 32768;
  constexpr std::size_t k_layers = 2048;
  if (shape.is_cubemap) return {k_side, k_side, 341};
  constexpr std::size_t k_narrow = 8192;  // TEXTURE3D_WIDTH_ALTERNATE: deeper, but no surface
  if (shape.depth != 0)
    return shape.width <= k_narrow && shape.height <= k_narrow && !shape.allows_surface
               ? largest_shape{k_narrow, k_narrow, 32768}
               : largest_shape{16384, 16384, 16384};
  if (shape.layers != 0) return {k_side, k_side, k_layers};
  if (shape.allows_gather) return {k_side, k_side, 0};
  if (shape.height == 0 && shape.allows_surface) return {k_side, 0, 0};
  return {131072, 65536, 0};
}

void check_dimensions(array_shape const& shape)
{
  if (shape.width == 0)
    fail_shape("an array needs a width", "set array_shape::width to 1 or more texels");
  if (shape.depth != 0 && shape.height == 0)
    fail_shape(detail::format("an array with a depth of {} needs a height", shape.depth),
               "set array_shape::height to 1 or more texels");
  if (shape.depth != 0 && (shape.layers != 0 || shape.is_cubemap))
    fail_shape(detail::format("an array of layers or faces cannot have a depth of {}", shape.depth),
               "set either array_shape::depth, or layers and is_cubemap");
  if (shape.is_cubemap && shape.width != shape.height)
    fail_shape(detail::format("the faces of a cubemap are squares, not {} x {} texels", shape.width,
                              shape.height),
               "set array_shape::width and height to the same number");
  bool const is_plane =
      shape.height != 0 && shape.depth == 0 && shape.layers == 0 && !shape.is_cubemap;
  if (shape.allows_gather && !is_plane)
    fail_shape("only 2-D arrays without layers allow gathers",
               "leave array_shape::allows_gather unset");
}

void check_limit(char const* dimension, std::size_t value, std::size_t limit)
{
  if (value <= limit) return;
  fail_shape(
      detail::format("an array's {} of {} is more than the {} that CUDA allows for its shape",
                     dimension, value, limit),
      "use several arrays");
}

}  // namespace

char const* to_string(channel_type type) noexcept
{
  switch (type) {
    case channel_type::u8:
      return "u8";
    case channel_type::s8:
      return "s8";
    case channel_type::u16:
      return "u16";
    case channel_type::s16:
      return "s16";
    case channel_type::u32:
      return "u32";
    case channel_type::s32:
      return "s32";
    case channel_type::f16:
      return "f16";
    case channel_type::f32:
      return "f32";
  }
  return "unknown";
}

std::size_t texel_bytes(texel_format const& format)
{
  auto const channels = format.channels;
  if (channels != 1 && channels != 2 && channels != 4)
    detail::fail_use(detail::format("texels cannot have {} channels", channels), "texel_format",
                     "use 1, 2 or 4 channels");
  switch (format.type) {
    case channel_type::u8:
    case channel_type::s8:
      return channels;
    case channel_type::u16:
    case channel_type::s16:
    case channel_type::f16:
      return 2UL * channels;
    case channel_type::u32:
    case channel_type::s32:
    case channel_type::f32:
      return 4UL * channels;
  }
  detail::fail_use(detail::format("channel type {} does not exist", static_cast<int>(format.type)),
                   "texel_format", "use one of channel_type");
}

std::size_t texel_count(array_shape const& shape)
{
  check_dimensions(shape);
  auto const limit = largest(shape);
  check_limit("width", shape.width, limit.width);
  check_limit("height", shape.height, limit.height);
  check_limit("depth", shape.depth, limit.depth);
  check_limit("number of layers", shape.layers, limit.depth);
  auto const one = [](std::size_t dimension) { return std::max<std::size_t>(dimension, 1); };
  return shape.width * one(shape.height) * one(shape.depth) * one(shape.layers) *
         (shape.is_cubemap ? 6U : 1U);
}

}  // namespace fatlink
