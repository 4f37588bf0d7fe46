// SPDX-License-Identifier: Apache-2.0
// Reads of textures. Expected values: the formulas of the CUDA Programming Guide 13.0, "Texture
// Fetching", worked out by hand.
#include "texture_fixture.hpp"

namespace fatlink::interpreter {
namespace {

using enum address_mode;

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
                                  x_of(-0.5F, 0.75F) + k_read_1d);
}

TEST_F(Textures, WrapRepeatsTheImage)
{
  expect_floats(
      {2, 1, 3, 2, 1, 3},  // at -1.5, -0.8125, -0.125, …
      texture(k_line3, k_three, sampler_of(wrap, false, true)) + x_of(-1.5F, 0.6875F) + k_read_1d);
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

TEST_F(Textures, TheBorderKeepsItsBits)
{
  auto sampler = sampler_of(border);
  sampler.border = {-0.0F, std::bit_cast<float>(0x7FC00123U), 0, 0};
  auto const read = texture({.texels = {2, 32, texel_kind::floating}, .width = 1},
                            std::vector{1.0F, 1.0F}, sampler) +
                    x_of(-1, 0) + k_read_1d;
  expect_integers({0x80000000}, read);
  expect_integers({0x7FC00123}, read + "mov.b32 %v, %f2;");
}

TEST_F(Textures, TheLinearFilterKeepsTheSignOfZero)
{
  auto sampler = sampler_of(border, true);
  sampler.border = {-0.0F, 0, 0, 0};
  auto const handle = texture(k_line3, std::vector{-0.0F, -0.0F, 1.0F}, sampler);
  expect_integers({0x80000000, 0x80000000, 0x80000000}, handle + x_of(-1, 0.75F) + k_read_1d);
}

TEST_F(Textures, TheLinearFilterReturnsTheCanonicalNan)
{
  expect_integers({0x7FFFFFFF},
                  texture(k_line3, std::vector{std::bit_cast<float>(0xFFC00123U), 2.0F, 3.0F},
                          sampler_of(clamp, true)) +
                      x_of(0.75F, 0) + k_read_1d);
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

}  // namespace
}  // namespace fatlink::interpreter
