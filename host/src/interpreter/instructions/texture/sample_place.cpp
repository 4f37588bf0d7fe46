// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/sample_place.hpp"

#include <algorithm>
#include <cmath>

namespace fatlink::interpreter {
namespace {

constexpr double k_far = 0x1p40;       // beyond any texel, and exact with 8 fraction bits
constexpr std::int64_t k_steps = 256;  // of the weights of the linear filter

std::int64_t modulo(std::int64_t value, std::int64_t divisor) noexcept
{
  auto const remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

/// std::floor is a call on processors before x86-64-v2.
std::int64_t floor_of(double value) noexcept
{
  auto const whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) > value ? whole - 1 : whole;
}

/// The coordinate in texels. NaN counts as 0. A periodic coordinate is in its first period, so that
/// large ones keep their fraction.
double scaled(axis const& axis, float coordinate) noexcept
{
  if (std::isnan(coordinate)) return 0;
  auto value = std::clamp(static_cast<double>(coordinate), -k_far, k_far);
  if (!axis.is_normalized) return value;
  if (axis.mode == address_mode::wrap) value -= static_cast<double>(floor_of(value));
  if (axis.mode == address_mode::mirror) value -= 2 * static_cast<double>(floor_of(value / 2));
  return std::clamp(value * static_cast<double>(axis.size), -k_far, k_far);
}

std::uint64_t extent_along(image_layout const& layout, unsigned dimension) noexcept
{
  auto const size = dimension == 0 ? layout.width : dimension == 1 ? layout.height : layout.depth;
  return std::max<std::uint64_t>(size, 1);
}

}  // namespace

axis axis_of(image_layout const& layout, sampler const& sampler, unsigned dimension) noexcept
{
  auto const is_normalized = sampler.has_normalized_coordinates || layout.is_cube;
  auto mode = sampler.modes[dimension];
  if (!is_normalized && mode != address_mode::border) mode = address_mode::clamp;
  return {static_cast<std::int64_t>(extent_along(layout, dimension)), mode, is_normalized};
}

std::int64_t texel_at(axis const& axis, std::int64_t index) noexcept
{
  auto const size = axis.size;
  if (index >= 0 && index < size) return index;
  switch (axis.mode) {
    case address_mode::wrap:
      return modulo(index, size);
    case address_mode::mirror: {
      auto const place = modulo(index, 2 * size);
      return place < size ? place : 2 * size - 1 - place;
    }
    case address_mode::border:
      return k_border;
    case address_mode::clamp:
      break;
  }
  return std::clamp<std::int64_t>(index, 0, size - 1);
}

std::int64_t nearest(axis const& axis, float coordinate, std::int32_t offset) noexcept
{
  return texel_at(axis, floor_of(scaled(axis, coordinate)) + offset);
}

neighbours around(axis const& axis, float coordinate, std::int32_t offset) noexcept
{
  auto const place = std::llrint((scaled(axis, coordinate) - 0.5) * k_steps);
  auto const weight = place & (k_steps - 1);
  auto const first = place / k_steps - (place < 0 && weight != 0 ? 1 : 0) + offset;
  return {texel_at(axis, first), texel_at(axis, first + 1), static_cast<double>(weight) / k_steps};
}

cube_place on_cube(float x, float y, float z) noexcept
{
  auto const ax = std::abs(x);
  auto const ay = std::abs(y);
  auto const az = std::abs(z);
  auto const on_face = [](unsigned face, float s, float t, float major) {
    return cube_place{face, (s / major + 1) / 2, (t / major + 1) / 2};
  };
  if (az >= ax && az >= ay) return z < 0 ? on_face(5, -x, -y, az) : on_face(4, x, -y, az);
  if (ay >= ax) return y < 0 ? on_face(3, x, -z, ay) : on_face(2, x, z, ay);
  return x < 0 ? on_face(1, z, -y, ax) : on_face(0, -z, -y, ax);
}

}  // namespace fatlink::interpreter
