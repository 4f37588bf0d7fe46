// SPDX-License-Identifier: Apache-2.0
// Instructions on textures that fail or are refused: the message of each.
#include "texture_fixture.hpp"

namespace fatlink::interpreter {
namespace {

std::string const k_read =
    "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {0f3F000000}]; mov.b32 %v, %f1;";
std::string const k_fetch_2d =
    "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, 1}]; mov.b32 %v, %f1;";

constexpr image_layout k_plane3{.texels = k_f32, .width = 3, .height = 2};
std::vector<float> const k_six{1, 2, 3, 4, 5, 6};

TEST_F(Textures, TheHandleZeroIsNamed)
{
  expect_failure(fault::address,
                 "kernel k, block (0,0,0) thread (0,0,0): tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, "
                 "[%rd4, {0f3F000000}] (a.ptx:9): 0x0 is not a texture: the handle is 0",
                 load(0) + k_read);
}

TEST_F(Textures, AHandleOfADestroyedTextureIsNamed)
{
  auto const body = texture(k_line3, k_three) + k_read;
  memory_->textures().remove(memory_->textures().snapshot()->front().handle);
  expect_failure(fault::address, "is not a texture: the object of the handle was destroyed", body);
}

TEST_F(Textures, AnAddressIsNoHandle)
{
  expect_failure(fault::address, "is not a texture: the handle is an address",
                 "mov.u64 %rd4, " + std::to_string(k_allocations) + ";" + k_read);
}

TEST_F(Textures, ANumberIsNoHandle)
{
  expect_failure(fault::address, "0x7b is not a texture: the handle is not of this device",
                 load(123) + k_read);
}

TEST_F(Textures, AHandleIsNoAddress)
{
  expect_failure(fault::address, "the handle of a texture or surface",
                 texture(k_line3, k_three) + "ld.global.u32 %v, [%rd4];");
}

TEST_F(Textures, ASurfaceIsNoTexture)
{
  expect_failure(fault::address, "is a surface, not a texture", surface(k_line3, k_three) + k_read);
}

TEST_F(Textures, TheMemoryOfATextureMustBeAllocated)
{
  auto const body = texture(k_line3, k_three) + k_read;
  memory_->release(memory_->textures().snapshot()->front().image.address);
  expect_failure(fault::address, "the memory of the texture was released", body);
}

TEST_F(Textures, TheGeometryMustBeThatOfTheTexture)
{
  expect_failure(fault::address,
                 "the instruction is for a 1d texture, and the handle is that of a 2d one",
                 texture(k_plane3, k_six) + k_read);
}

TEST_F(Textures, TheTypeMustBeThatOfTheTexture)
{
  expect_failure(fault::address,
                 "the instruction reads floating-point numbers, and the texture has integers",
                 texture({.texels = k_u32, .width = 1}, std::vector{1U}) + k_read);
  expect_failure(
      fault::address, "the instruction reads integers, and the texture has floating-point numbers",
      texture(k_line3, k_three) + "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %v}, [%rd4, {0f00000000}];");
}

TEST_F(Textures, LinearMemoryHasIntegerCoordinates)
{
  auto layout = k_line3;
  layout.is_linear = true;
  expect_failure(fault::address, "a texture of linear memory has integer coordinates (tex1Dfetch)",
                 texture(layout, k_three) + k_read);
}

TEST_F(Textures, AnIndexOutsideOfAnArrayIsNamed)
{
  expect_failure(fault::address,
                 "thread (3,0,0): tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, 1}] "
                 "(a.ptx:9): the texel (3, 1) is not in an image of 3 x 2 texels",
                 texture(k_plane3, k_six) + k_fetch_2d);
}

TEST_F(Textures, ALayerThatDoesNotExistIsNamed)
{
  image_layout const layout{.texels = k_f32, .width = 1, .layers = 3};
  expect_failure(fault::address, "layer 3 is not in an image of 1 texels in 3 layers",
                 texture(layout, k_three) +
                     "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, 0f00000000}];");
}

TEST_F(Textures, GathersNeedAnArrayThatAllowsThem)
{
  auto layout = k_plane3;
  layout.allows_gather = false;
  expect_failure(
      fault::address, "the array was made without access by tld4 (tex2Dgather)",
      texture(layout, k_six) + "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];");
}

TEST_F(Textures, OffsetsHaveFourBits)
{
  expect_failure(fault::address, "the offset 8 is not in -8 to 7",
                 texture(k_line3, k_three) +
                     "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {0f00000000}], {8};");
}

TEST_F(Textures, ADimensionThatATextureDoesNotHaveIsNamed)
{
  expect_failure(fault::address, "the object does not have this dimension",
                 texture(k_line3, k_three) + "txq.height.b32 %v, [%rd4];");
}

TEST_F(Textures, TheSizeOfAnArrayOfCubesIsNotDefined)
{
  image_layout const layout{.texels = k_f32, .width = 1, .height = 1, .is_cube = true};
  expect_failure(fault::address, "PTX does not define the size of an array of cubes",
                 texture(layout, k_six) + "txq.array_size.b32 %v, [%rd4];");
}

TEST_F(Textures, RefusalsStateTheirReason)
{
  for (auto const& [text, reason] : std::initializer_list<std::pair<char const*, char const*>>{
           {"tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%r1, %r2, %r3, %r4}];",
            "it does not support multi-sample textures"},
           {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, %rd5, {%f5, %f6}];",
            "it does not support samplers that are not the texture's"},
           {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}], %f7;",
            "it does not support comparisons of depth textures"},
           {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}], %f7;",
            "it does not support comparisons of depth textures"},
           {"tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}], {%r1, %r2}, %f7;",
            "it does not support comparisons of depth textures"},
           {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, %rd4;", "no object with coordinates"},
           {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [5, {%f5}];", "no object with coordinates"},
           {"tex.2d.v2.f32.f32 {%f1, %f2}, [%rd4, {%f5, %f6}];", "not a supported vector"},
           {"tex.2d.v4.f64.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];", "not a supported type"},
           {"tex.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];",
            "no modifier is a known geometry"},
           {"tld4.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];",
            "no modifier is a component"},
           {"txq.channel_order.b32 %v, [%rd4];", "PTX does not define .channel_order of an object"},
           {"txq.channel_data_type.b32 %v, [%rd4];",
            "PTX does not define .channel_data_type of an object"},
           {"txq.force_unnormalized_coords.b32 %v, [%rd4];",
            "PTX does not define .force_unnormalized_coords of an object"},
           {"txq.level.width.b32 %v, [%rd4], 1;", "textures have level 0 only"},
           {"txq.color.b32 %v, [%rd4];", "no modifier is a known attribute"},
           {"txq.width.b32 %v, %rd4;", "no object"},
           {"istypep.texref %p1, %rd4;",
            "it does not support references to textures and surfaces"}})
    expect_failure(fault::refused, reason, text);
}

TEST_F(Textures, WrongOperandsAreInvalid)
{
  for (auto const& [text, reason] : std::initializer_list<std::pair<char const*, char const*>>{
           {"tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];",
            "a geometry of 3 coordinates, given 2"},
           {"tex.1d.v4.f32.f32 {%f1, %f2}, [%rd4, {%f5}];",
            "the destination is not a vector of 4 registers"},
           {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4+8, {%f5}];", "a handle has no offset"},
           {"tex.cube.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%r1, %r2, %r3, %r4}];",
            "a cube has floating-point coordinates"},
           {"tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5, %f5, %f5}], {%r1, %r2};",
            "a cube has no offsets"},
           {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5}], {%r1};",
            "too few offsets"},
           {"tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5, %f5, %f5}];",
            "four texels of a line or a volume"}})
    expect_failure(fault::invalid, reason, text);
}

}  // namespace
}  // namespace fatlink::interpreter
