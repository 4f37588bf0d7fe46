// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces for PTX written by hand: images in the memory of the reference device.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

inline constexpr texel_layout k_f32 = {1, 32, texel_kind::floating};
inline constexpr texel_layout k_f32x4 = {4, 32, texel_kind::floating};
inline constexpr texel_layout k_f16 = {1, 16, texel_kind::floating};
inline constexpr texel_layout k_u8 = {1, 8, texel_kind::unsigned_integer};
inline constexpr texel_layout k_s8 = {1, 8, texel_kind::signed_integer};
inline constexpr texel_layout k_u16 = {1, 16, texel_kind::unsigned_integer};
inline constexpr texel_layout k_u32 = {1, 32, texel_kind::unsigned_integer};
inline constexpr texel_layout k_s32 = {1, 32, texel_kind::signed_integer};

/// "0f3F800000".
inline std::string immediate(float value)
{
  std::array<char, 11> text = {};
  std::snprintf(text.data(), text.size(), "0f%08X", std::bit_cast<unsigned>(value));
  return text.data();
}

inline sampler sampler_of(address_mode mode, bool is_linear_filter = false,
                          bool is_normalized = false)
{
  sampler result;
  result.modes = {mode, mode, mode};
  result.is_linear_filter = is_linear_filter;
  result.has_normalized_coordinates = is_normalized;
  return result;
}

class Textures : public Ptx {
 protected:
  /// An image that holds `texels`, without gaps.
  template <typename T>
  image make_image(image_layout layout, std::vector<T> const& texels)
  {
    layout.row_bytes = layout.width * layout.texels.bytes();
    auto const region = memory_->allocate(layout.bytes(), "array");
    EXPECT_EQ(texels.size() * sizeof(T), region.size);
    std::memcpy(region.data, texels.data(), region.size);
    data_ = region.data;
    return {region.base, layout};
  }

  /// Loads the handle of a texture to %rd4.
  template <typename T>
  std::string texture(image_layout const& layout, std::vector<T> const& texels,
                      sampler const& sampler = {})
  {
    return load(memory_->textures().add_texture(make_image(layout, texels), sampler));
  }

  /// Loads the handle of a surface to %rd4.
  template <typename T>
  std::string surface(image_layout layout, std::vector<T> const& texels)
  {
    layout.allows_surface = true;
    return load(memory_->textures().add_surface(make_image(layout, texels)));
  }

  static std::string load(std::uint64_t handle)
  {
    return "mov.u64 %rd4, " + std::to_string(handle) + ";\n";
  }

  /// The results of as many threads as `expected` has.
  void expect_floats(std::vector<float> const& expected, std::string const& body)
  {
    auto const bits = run(body, static_cast<std::uint32_t>(expected.size()));
    std::vector<float> floats;
    for (auto const value : bits) floats.push_back(std::bit_cast<float>(value));
    EXPECT_EQ(floats, expected) << body;
  }

  void expect_integers(values const& expected, std::string const& body)
  {
    EXPECT_EQ(run(body, static_cast<std::uint32_t>(expected.size())), expected) << body;
  }

  /// The texels of the image that was made last.
  template <typename T>
  std::vector<T> contents(std::size_t count) const
  {
    std::vector<T> result(count);
    std::memcpy(result.data(), data_, count * sizeof(T));
    return result;
  }

 private:
  std::byte* data_ = nullptr;
};

}  // namespace fatlink::interpreter
