// SPDX-License-Identifier: Apache-2.0
// Reads of textures. Expected values: the formulas of the CUDA Programming Guide 13.0, "Texture
// Fetching", worked out by hand.
#include "texture_fixture.hpp"

namespace fatlink::interpreter {
namespace {

using enum address_mode;

/// Reads to %v at the coordinates %f5, %f6, %f7.
std::string const k_read_1d =
    "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}]; mov.b32 %v, %f1;";
std::string const k_read_2d =
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}]; mov.b32 %v, %f1;";
std::string const k_read_3d =
    "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6, %f7, %f7}]; mov.b32 %v, %f1;";
std::string const k_read_cube =
    "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6, %f7, %f7}]; mov.b32 %v, %f1;";

/// Sets %f5 of thread i to first + i * step.
std::string x_of(float first, float step)
{
  return "cvt.rn.f32.u32 %f5, %t; fma.rn.f32 %f5, %f5, " + immediate(step) + ", " +
         immediate(first) + ";\n";
}

std::string yz_of(float y, float z = 0)
{
  return "mov.f32 %f6, " + immediate(y) + "; mov.f32 %f7, " + immediate(z) + ";\n";
}

constexpr image_layout k_line3{.texels = k_f32, .width = 3};
constexpr image_layout k_plane2{.texels = k_f32, .width = 2, .height = 2};
std::vector<float> const k_three{1, 2, 3};
std::vector<float> const k_four{1, 2, 4, 6};
std::vector<float> const k_eight{1, 2, 3, 4, 5, 6, 7, 8};

TEST_F(Textures, LinearMemoryIsReadByIndexAndIsZeroOutOfBounds)
{
  image_layout const layout{.texels = k_f32, .width = 3, .is_linear = true};
  expect_floats({0, 1, 2, 3, 0},
                texture(layout, k_three) +
                    "sub.s32 %r1, %t, 1; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%r1}]; "
                    "mov.b32 %v, %f1;");
}

TEST_F(Textures, ThePointFilterReadsTheTexelThatHoldsTheCoordinate)
{
  expect_floats({1, 1, 2, 2, 3}, texture(k_line3, k_three) + x_of(0.25F, 0.5F) + k_read_1d);
}

TEST_F(Textures, RowsFollowEachOther)
{
  expect_floats({4, 6}, texture(k_plane2, k_four) + x_of(0.5F, 1) + yz_of(1.5F) + k_read_2d);
}

TEST_F(Textures, SlicesFollowEachOther)
{
  image_layout const layout{.texels = k_f32, .width = 2, .height = 2, .depth = 2};
  expect_floats({7, 8}, texture(layout, k_eight) + x_of(0.5F, 1) + yz_of(1.5F, 1.5F) + k_read_3d);
}

TEST_F(Textures, TheLinearFilterWeighsTwoTexelsOfALine)
{
  expect_floats({1, 1.25, 1.5, 1.75, 2, 2.25},
                texture(k_line3, k_three, sampler_of(clamp, true)) + x_of(0.5F, 0.25F) + k_read_1d);
}

TEST_F(Textures, TheLinearFilterHasWeightsOfEightBits)
{
  image_layout const layout{.texels = k_f32, .width = 2};
  expect_floats({0, 0, 1, 1},  // weights of 0, 0.33, 0.66, 1 of 256
                texture(layout, std::vector{0.0F, 256.0F}, sampler_of(clamp, true)) +
                    x_of(0.5F, 0.00130F) + k_read_1d);
}

TEST_F(Textures, TheLinearFilterWeighsFourTexelsOfAPlane)
{
  expect_floats({1, 3.25, 6}, texture(k_plane2, k_four, sampler_of(clamp, true)) +
                                  x_of(0.5F, 0.5F) + "mov.f32 %f6, %f5;" + k_read_2d);
}

TEST_F(Textures, TheLinearFilterWeighsEightTexelsOfAVolume)
{
  image_layout const layout{.texels = k_f32, .width = 2, .height = 2, .depth = 2};
  expect_floats({4.5}, texture(layout, k_eight, sampler_of(clamp, true)) + x_of(1, 0) +
                           yz_of(1, 1) + k_read_3d);
}

TEST_F(Textures, TheLinearFilterDoesNotReadTexelsOfWeightZero)
{
  image_layout const layout{.texels = k_f32, .width = 2};
  expect_floats({5}, texture(layout, std::vector{5.0F, std::numeric_limits<float>::infinity()},
                             sampler_of(clamp, true)) +
                         x_of(0.5F, 0) + k_read_1d);
}

TEST_F(Textures, ClampReadsTheOutermostTexels)
{
  expect_floats({1, 1, 3, 3}, texture(k_line3, k_three, sampler_of(clamp, false, true)) +
                                  x_of(-0.5F, 0.75F) + k_read_1d + "");
}

TEST_F(Textures, WrapRepeatsTheImage)
{
  expect_floats({2, 1, 3, 2, 1, 3},  // at -1.5, -0.75, 0, ...
                texture(k_line3, k_three, sampler_of(wrap, false, true)) + "mov.u32 %r1, %t;" +
                    x_of(-1.5F, 0.6875F) + k_read_1d);
}

TEST_F(Textures, MirrorRepeatsTheImageBackAndForth)
{
  expect_floats({3, 3, 2, 1, 1, 2, 3, 3, 2, 1},  // at -7/6, -5/6, ...
                texture(k_line3, k_three, sampler_of(mirror, false, true)) +
                    x_of(-7.0F / 6, 1.0F / 3) + k_read_1d);
}

TEST_F(Textures, BorderReadsItsColorOutside)
{
  auto sampler = sampler_of(border, false, true);
  sampler.border = {9, 8, 7, 6};
  expect_floats({9, 1, 2, 3, 9},
                texture(k_line3, k_three, sampler) + x_of(-1.0F / 6, 1.0F / 3) + k_read_1d);
}

TEST_F(Textures, TheBorderIsFilteredToo)
{
  auto sampler = sampler_of(border, true);
  sampler.border = {9, 0, 0, 0};
  expect_floats({9, 5, 1}, texture(k_line3, k_three, sampler) + x_of(-0.5F, 0.5F) + k_read_1d);
}

TEST_F(Textures, AnAxisHasItsOwnAddressMode)
{
  auto sampler = sampler_of(wrap, false, true);
  sampler.modes[1] = clamp;
  expect_floats({4},
                texture(k_plane2, k_four, sampler) + x_of(1.25F, 0) + yz_of(1.25F) + k_read_2d);
}

TEST_F(Textures, WrapAndMirrorClampWithoutNormalizedCoordinates)
{
  for (auto const mode : {wrap, mirror})
    expect_floats({1, 1, 3, 3},
                  texture(k_line3, k_three, sampler_of(mode)) + x_of(-1.5F, 2) + k_read_1d);
}

TEST_F(Textures, TheLinearFilterWrapsAround)
{
  expect_floats({2},
                texture(k_line3, k_three, sampler_of(wrap, true, true)) + x_of(1, 0) + k_read_1d);
}

TEST_F(Textures, LargeAndNotANumberCoordinatesAreDefined)
{
  expect_floats({3, 1, 1, 1},
                texture(k_line3, k_three) +
                    "mov.f32 %f5, 0f7F800000; setp.eq.u32 %p1, %t, 1; @%p1 mov.f32 %f5, "
                    "0fFF800000; setp.eq.u32 %p1, %t, 2; @%p1 mov.f32 %f5, 0f7FC00000; "
                    "setp.eq.u32 %p1, %t, 3; @%p1 mov.f32 %f5, 0fFF7FFFFF;" +
                    k_read_1d);
}

TEST_F(Textures, OffsetsAreAddedInTexels)
{
  expect_floats({3, 3}, texture(k_line3, k_three, sampler_of(clamp, false, true)) + x_of(0, 0.5F) +
                            "mov.b32 %r1, 2; tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, "
                            "{%f5}], {%r1}; mov.b32 %v, %f1;");
}

TEST_F(Textures, OffsetsAreAddedToIndices)
{
  expect_floats({6}, texture(k_plane2, k_four) +
                         "mov.b32 %r1, 2; mov.b32 %r2, 0; tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, "
                         "[%rd4, {%r1, %r2}], {-1, 1}; mov.b32 %v, %f1;");
}

TEST_F(Textures, LevelsAndGradientsReadLevelZero)
{
  auto const handle = texture(k_plane2, k_four) + x_of(1.5F, 0) + yz_of(1.5F, 3);
  for (auto const* const text :
       {"tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}], %f7;",
        "tex.base.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];",
        "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}], {%f7, %f7}, {%f7, "
        "%f7};"})
    expect_floats({6}, handle + text + "mov.b32 %v, %f1;");
}

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
  image_layout const layout{.texels = k_f32x4, .width = 1, .height = 1};
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
  auto const& objects = *memory_->textures().snapshot();
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
