// SPDX-License-Identifier: Apache-2.0
// Reads of textures: layers, cubes, gathers, formats, results and attributes. Expected values:
// CUDA Programming Guide 13.0, "Texture Fetching", "Cubemap Textures", worked out by hand.
#include "texture_fixture.hpp"

namespace fatlink::interpreter {
namespace {

using enum address_mode;

TEST_F(Textures, ALayerIsChosenByItsIndex)
{
  image_layout const layout{.texels = k_f32, .width = 2, .layers = 4};
  expect_floats({2, 4, 6, 8},
                texture(layout, k_eight) + x_of(1.5F, 0) +
                    "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, %f5}]; mov.b32 %v, %f1;");
}

TEST_F(Textures, APlaneOfALayerIsRead)
{
  image_layout const layout{.texels = k_f32, .width = 2, .height = 2, .layers = 2};
  expect_floats({3, 7}, texture(layout, k_eight) + x_of(0.5F, 0) + yz_of(1.5F) +
                            "tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, %f5, %f6, %f6}]; "
                            "mov.b32 %v, %f1;");
}

TEST_F(Textures, ADirectionChoosesTheFaceOfACube)
{
  image_layout const layout{.texels = k_f32, .width = 1, .height = 1, .is_cube = true};
  auto const handle = texture(layout, std::vector<float>{0, 1, 2, 3, 4, 5});
  std::array<std::array<float, 3>, 6> const directions{
      {{3, 1, -2}, {-3, 1, 2}, {1, 3, 2}, {-2, -3, 1}, {1, 2, 3}, {1, -2, -3}}};
  for (unsigned face = 0; face < 6; ++face) {
    auto const& [x, y, z] = directions[face];
    expect_floats({static_cast<float>(face)}, handle + x_of(x, 0) + yz_of(y, z) + k_read_cube);
  }
}

TEST_F(Textures, TheFacesOfACubeAreOrientedAsCudaStates)
{
  image_layout const layout{.texels = k_f32, .width = 2, .height = 2, .is_cube = true};
  std::vector<float> texels(24);
  for (unsigned i = 0; i < 24; ++i) texels[i] = static_cast<float>(i);
  auto const handle = texture(layout, texels);
  // The s and t of the guide's table, from the direction (x, y, z), choose one texel of four.
  expect_floats({1}, handle + x_of(1, 0) + yz_of(0.5F, -0.5F) + k_read_cube);        // -z, -y
  expect_floats({4 + 3}, handle + x_of(-1, 0) + yz_of(-0.5F, 0.5F) + k_read_cube);   // z, -y
  expect_floats({8 + 2}, handle + x_of(-0.5F, 0) + yz_of(1, 0.5F) + k_read_cube);    // x, z
  expect_floats({12 + 1}, handle + x_of(0.5F, 0) + yz_of(-1, 0.5F) + k_read_cube);   // x, -z
  expect_floats({16 + 2}, handle + x_of(-0.5F, 0) + yz_of(-0.5F, 1) + k_read_cube);  // x, -y
  expect_floats({20 + 1}, handle + x_of(-0.5F, 0) + yz_of(0.5F, -1) + k_read_cube);  // -x, -y
}

TEST_F(Textures, ACubeOfAnArrayIsChosenByItsIndex)
{
  image_layout const layout{.texels = k_f32, .width = 1, .height = 1, .layers = 2, .is_cube = true};
  std::vector<float> texels(12);
  for (unsigned i = 0; i < 12; ++i) texels[i] = static_cast<float>(i);
  expect_floats({4, 10}, texture(layout, texels) + x_of(0, 0) + yz_of(0, 1) +
                             "tex.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, %f5, %f6, "
                             "%f7}]; mov.b32 %v, %f1;");
}

TEST_F(Textures, FourTexelsAreGatheredCounterClockwise)
{
  auto const handle = texture(k_plane2, k_four) + x_of(1, 0) + yz_of(1);
  std::array const names{"%f1", "%f2", "%f3", "%f4"};
  std::array const expected{4.0F, 6.0F, 2.0F, 1.0F};
  for (unsigned i = 0; i < 4; ++i)
    expect_floats({expected[i]},
                  handle +
                      "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}]; mov.b32 "
                      "%v, " +
                      names[i] + ";");
}

TEST_F(Textures, AComponentIsGathered)
{
  image_layout const layout{.texels = k_f32x4, .width = 1, .height = 1, .allows_gather = true};
  auto const handle = texture(layout, k_four) + x_of(0.5F, 0) + yz_of(0.5F);
  unsigned index = 0;
  for (auto const* const component : {"r", "g", "b", "a"})
    expect_floats({k_four[index++]},
                  handle + "tld4." + component +
                      ".2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}]; mov.b32 %v, %f3;");
}

TEST_F(Textures, IntegersKeepTheirSign)
{
  std::string const read =
      "tex.1d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%rd4, {%f5}]; mov.b32 %v, %r1;";
  expect_integers(
      {0xFFFFFFFF},
      texture({.texels = k_s8, .width = 1}, std::vector<std::int8_t>{-1}) + x_of(0, 0) + read);
  expect_integers({255}, texture({.texels = k_u8, .width = 1}, std::vector<std::uint8_t>{255}) +
                             x_of(0, 0) + read);
  expect_integers({0xFFFF},
                  texture({.texels = k_u16, .width = 1}, std::vector<std::uint16_t>{0xFFFF}) +
                      x_of(0, 0) + read);
  expect_integers({0x80000000},
                  texture({.texels = k_u32, .width = 1}, std::vector<std::uint32_t>{0x80000000}) +
                      x_of(0, 0) + read);
}

TEST_F(Textures, IntegersAreReadAsNormalizedFloats)
{
  auto sampler = sampler_of(clamp);
  sampler.reads_normalized = true;
  expect_floats({0, 1, 51.0F / 255}, texture({.texels = k_u8, .width = 3},
                                             std::vector<std::uint8_t>{0, 255, 51}, sampler) +
                                         x_of(0.5F, 1) + k_read_1d);
  expect_floats({-1, -1, 1}, texture({.texels = k_s8, .width = 3},
                                     std::vector<std::int8_t>{-128, -127, 127}, sampler) +
                                 x_of(0.5F, 1) + k_read_1d);
  expect_floats({1, 257.0F / 65535}, texture({.texels = k_u16, .width = 2},
                                             std::vector<std::uint16_t>{65535, 257}, sampler) +
                                         x_of(0.5F, 1) + k_read_1d);
}

TEST_F(Textures, NormalizedIntegersAreFiltered)
{
  auto sampler = sampler_of(clamp, true);
  sampler.reads_normalized = true;
  expect_floats({0.5},
                texture({.texels = k_u8, .width = 2}, std::vector<std::uint8_t>{0, 255}, sampler) +
                    x_of(1, 0) + k_read_1d);
}

TEST_F(Textures, HalvesBecomeFloats)
{
  expect_floats({1.5}, texture({.texels = k_f16, .width = 1}, std::vector<std::uint16_t>{0x3E00}) +
                           x_of(0.5F, 0) + k_read_1d);
}

TEST_F(Textures, ChannelsThatTheFormatDoesNotHaveAreZeroAndAlphaIsOne)
{
  auto const handle = texture(k_line3, k_three) + x_of(0.5F, 0) + k_read_1d;
  expect_floats({0}, handle + "mov.b32 %v, %f2;");
  expect_floats({0}, handle + "mov.b32 %v, %f3;");
  expect_floats({1}, handle + "mov.b32 %v, %f4;");
}

TEST_F(Textures, ResultsMayBeHalves)
{
  image_layout const layout{.texels = k_f32x4, .width = 1};
  auto const handle = texture(layout, std::vector{1.5F, -2.0F, 0.0F, 1.0F}) + x_of(0.5F, 0);
  expect_integers({0xC0003E00}, handle +
                                    "tex.1d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd4, {%f5}]; "
                                    "mov.b32 %v, {%h1, %h2};");
  expect_integers({0x3C000000}, handle +
                                    "tex.1d.v2.f16x2.f32 {%r1, %r2}, [%rd4, {%f5}]; "
                                    "mov.b32 %v, %r2;");
}

TEST_F(Textures, ThePredicateOfResidencyIsTrue)
{
  expect_integers({7, 7}, texture(k_line3, k_three) + x_of(0.5F, 0) +
                              "setp.ne.u32 %p1, 0, 0; tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, "
                              "[%rd4, {%f5}]; selp.u32 %v, 7, 0, %p1;");
}

TEST_F(Textures, ResultsMayReplaceTheCoordinates)
{
  expect_floats({2, 3}, texture(k_line3, k_three) + x_of(1.5F, 1) +
                            "tex.1d.v4.f32.f32 {%f5, %f2, %f3, %f4}, [%rd4, {%f5}]; mov.b32 %v, "
                            "%f5;");
}

TEST_F(Textures, ThreadsMayHaveDifferentTextures)
{
  auto const first = texture(k_line3, k_three);
  auto const second = texture(k_line3, std::vector<float>{7, 8, 9});
  auto const& objects = memory_->textures().snapshot()->objects;
  auto const step = objects[1].handle - objects[0].handle;
  expect_floats({1, 7, 1, 7}, first + "and.b32 %r1, %t, 1; mul.wide.u32 %rd5, %r1, " +
                                  std::to_string(step) + "; add.s64 %rd4, %rd4, %rd5;" +
                                  x_of(0.5F, 0) + k_read_1d);
}

TEST_F(Textures, AttributesAreQueried)
{
  auto sampler = sampler_of(mirror, true, true);
  sampler.modes = {mirror, clamp, border};
  image_layout const layout{.texels = k_f32, .width = 4, .height = 1, .layers = 2};
  auto const handle = texture(layout, k_eight, sampler);
  for (auto const& [name, expected] :
       std::initializer_list<std::pair<char const*, unsigned>>{{"width", 4},
                                                               {"height", 1},
                                                               {"array_size", 2},
                                                               {"num_mipmap_levels", 0},
                                                               {"num_samples", 0},
                                                               {"normalized_coords", 1},
                                                               {"filter_mode", 1},
                                                               {"addr_mode_0", 1},
                                                               {"addr_mode_1", 3},
                                                               {"addr_mode_2", 4},
                                                               {"level.width", 4}})
    expect_integers({expected}, handle + "txq." + name + ".b32 %v, [%rd4]" +
                                    (std::string_view(name).starts_with("level") ? ", 0;" : ";"));
}

}  // namespace
}  // namespace fatlink::interpreter
