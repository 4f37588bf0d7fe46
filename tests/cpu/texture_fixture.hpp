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

/// Reads to %v at the coordinates %f5, %f6, %f7.
inline std::string const k_read_1d =
    "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}]; mov.b32 %v, %f1;";
inline std::string const k_read_2d =
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}]; mov.b32 %v, %f1;";
inline std::string const k_read_3d =
    "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6, %f7, %f7}]; mov.b32 %v, %f1;";
inline std::string const k_read_cube =
    "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6, %f7, %f7}]; mov.b32 %v, %f1;";

/// Sets %f5 of thread i to first + i * step.
inline std::string x_of(float first, float step)
{
  return "cvt.rn.f32.u32 %f5, %t; fma.rn.f32 %f5, %f5, " + immediate(step) + ", " +
         immediate(first) + ";\n";
}

inline std::string yz_of(float y, float z = 0)
{
  return "mov.f32 %f6, " + immediate(y) + "; mov.f32 %f7, " + immediate(z) + ";\n";
}

inline constexpr image_layout k_line3{.texels = k_f32, .width = 3};
inline constexpr image_layout k_plane2{
    .texels = k_f32, .width = 2, .height = 2, .allows_gather = true};
inline std::vector<float> const k_three{1, 2, 3};
inline std::vector<float> const k_four{1, 2, 4, 6};
inline std::vector<float> const k_eight{1, 2, 3, 4, 5, 6, 7, 8};

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

  /// The hint of the failure of `body`.
  std::string hint_of(std::string const& body)
  {
    try {
      run(body, 1);
      return "no failure";
    } catch (code_error const& failed) {
      return failed.hint();
    }
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
