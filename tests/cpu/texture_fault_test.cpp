// SPDX-License-Identifier: Apache-2.0
// Instructions on textures that fail or are refused: the message of each.
#include "texture_fixture.hpp"

namespace fatlink::interpreter {
namespace {

std::string const k_read =
    "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {0f3F000000}]; mov.b32 %v, %f1;";
std::string const k_fetch_2d =
    "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, 1}]; mov.b32 %v, %f1;";

std::string const k_gather = "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];";

constexpr image_layout k_plane3{.texels = k_f32, .width = 3, .height = 2};
std::vector<float> const k_six{1, 2, 3, 4, 5, 6};

TEST_F(Textures, ANullHandleIsNamed)
{
  expect_failure(error_kind::address,
                 "kernel k, block (0,0,0) thread (0,0,0): tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, "
                 "[%rd4, {0f3F000000}] (a.ptx:9): 0x0 is not a texture: the handle is null",
                 load(0) + k_read);
}

TEST_F(Textures, AHandleOfADestroyedTextureIsNamed)
{
  auto const body = texture(k_line3, k_three) + k_read;
  memory_->textures().remove(memory_->textures().snapshot()->objects.front().handle);
  expect_failure(error_kind::address, "is not a texture: the object of the handle was destroyed",
                 body);
}

TEST_F(Textures, AnAddressIsNoHandle)
{
  for (auto const address : {k_allocations, k_shared_window, k_local_window, k_parameter_window})
    expect_failure(error_kind::address, "is not a texture: the handle is an address",
                   load(address) + k_read);
}

TEST_F(Textures, ANumberIsNoHandle)
{
  expect_failure(error_kind::address, "0x7b is not a texture: the handle is not of this device",
                 load(123) + k_read);
  for (auto const handle : {k_object_window, k_object_window + k_object_stride})
    expect_failure(error_kind::address, "is not a texture: the handle is not of this device",
                   load(handle) + k_read);
  auto const handle = memory_->textures().add_surface(make_image(k_line3, k_three));
  expect_failure(error_kind::address, "is not a texture: the handle is not of this device",
                 load(handle + 1) + k_read);
}

TEST_F(Textures, AHintNamesWhatIsWrongWithAHandle)
{
  EXPECT_EQ(hint_of(load(0) + k_read),
            "pass the handle() of a fatlink::texture that was not moved from; 0 is the handle of "
            "none");
  EXPECT_EQ(hint_of(load(k_allocations) + k_read),
            "pass the handle() of a fatlink::texture, not the address of memory");
  EXPECT_EQ(hint_of(load(123) + k_read),
            "pass the handle() of a fatlink::texture that was made on this device");
  auto const destroyed = memory_->textures().add_surface(make_image(k_line3, k_three));
  memory_->textures().remove(destroyed);
  EXPECT_EQ(hint_of(load(destroyed) + "suld.b.1d.b32.trap {%v}, [%rd4, {0}];"),
            "keep the fatlink::surface until the kernels that use it have finished");
  EXPECT_EQ(hint_of(surface(k_line3, k_three) + k_read),
            "pass the handle() of a fatlink::texture, or use it as a surface in the device code");
  EXPECT_EQ(hint_of(texture(k_line3, k_three) + "suld.b.1d.b32.trap {%v}, [%rd4, {0}];"),
            "pass the handle() of a fatlink::surface, or use it as a texture in the device code");
}

TEST_F(Textures, AHintNamesWhatIsWrongWithAnObject)
{
  EXPECT_EQ(hint_of(texture(k_plane3, k_six) + k_read),
            "pass a 1d texture (array_shape), or fix the device code");
  auto layout = k_line3;
  layout.is_linear = true;
  EXPECT_EQ(hint_of(texture(layout, k_three) + k_read),
            "pass a texture of an array, or read it with tex1Dfetch");
  EXPECT_EQ(hint_of(texture({.texels = k_u32, .width = 1}, std::vector{1U}) + k_read),
            "set texture_options::reads_normalized, pass a texture of f16 or f32, or fix the "
            "device code");
  EXPECT_EQ(hint_of(texture(k_line3, k_three) +
                    "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %v}, [%rd4, {0f00000000}];"),
            "pass a texture of integers without texture_options::reads_normalized, or fix the "
            "device code");
  EXPECT_EQ(hint_of(texture(k_line3, k_three) + "txq.height.b32 %v, [%rd4];"),
            "pass an object that has it (array_shape), or fix the device code");
  auto const body = texture(k_line3, k_three) + k_read;
  memory_->release(memory_->textures().snapshot()->objects.back().image.address);
  EXPECT_EQ(hint_of(body),
            "keep the array or buffer of the texture until the kernels that use it have finished");
}

TEST_F(Textures, FaultsOfTheDeviceCodeHaveNoHintOfTheirOwn)
{
  EXPECT_EQ(
      hint_of(texture(k_plane3, k_six) + "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {3, 1}];"),
      "");
}

TEST_F(Textures, AHandleIsNoAddress)
{
  expect_failure(error_kind::address, "the handle of a texture or surface",
                 texture(k_line3, k_three) + "ld.global.u32 %v, [%rd4];");
}

TEST_F(Textures, ASurfaceIsNoTexture)
{
  expect_failure(error_kind::address, "is a surface, not a texture",
                 surface(k_line3, k_three) + k_read);
}

TEST_F(Textures, TheMemoryOfATextureMustBeAllocated)
{
  auto const body = texture(k_line3, k_three) + k_read;
  memory_->release(memory_->textures().snapshot()->objects.front().image.address);
  expect_failure(error_kind::address, "the memory of the texture was released", body);
}

TEST_F(Textures, TheGeometryMustBeThatOfTheTexture)
{
  expect_failure(error_kind::address,
                 "the instruction is for a 1d texture, and the handle is that of a 2d one",
                 texture(k_plane3, k_six) + k_read);
}

TEST_F(Textures, TheTypeMustBeThatOfTheTexture)
{
  expect_failure(error_kind::address,
                 "the instruction reads floating-point numbers, and the texture has integers",
                 texture({.texels = k_u32, .width = 1}, std::vector{1U}) + k_read);
  expect_failure(
      error_kind::address,
      "the instruction reads integers, and the texture has floating-point numbers",
      texture(k_line3, k_three) + "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %v}, [%rd4, {0f00000000}];");
}

TEST_F(Textures, LinearMemoryHasIntegerCoordinates)
{
  auto layout = k_line3;
  layout.is_linear = true;
  expect_failure(error_kind::address,
                 "a texture of linear memory has integer coordinates (tex1Dfetch)",
                 texture(layout, k_three) + k_read);
}

TEST_F(Textures, AnIndexOutsideOfAnArrayIsNamed)
{
  expect_failure(error_kind::address,
                 "thread (3,0,0): tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, 1}] "
                 "(a.ptx:9): the texel (3, 1) is not in an image of 3 x 2 texels",
                 texture(k_plane3, k_six) + k_fetch_2d);
}

TEST_F(Textures, ALayerThatDoesNotExistIsNamed)
{
  image_layout const layout{.texels = k_f32, .width = 1, .layers = 3};
  expect_failure(error_kind::address, "layer 3 is not in an image of 1 texels in 3 layers",
                 texture(layout, k_three) +
                     "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%t, 0f00000000}];");
}

TEST_F(Textures, GathersNeedAnArrayThatAllowsThem)
{
  auto const body = texture(k_plane3, k_six) + k_gather;
  expect_failure(error_kind::address, "the array was made without access by tld4 (tex2Dgather)",
                 body);
  EXPECT_EQ(hint_of(body), "set array_shape::allows_gather when the array is made");
}

TEST_F(Textures, GathersFromRowsOfLinearMemoryAreNotDefined)
{
  auto layout = k_plane3;
  layout.is_pitched = true;
  auto const body = texture(layout, k_six) + k_gather;
  expect_failure(error_kind::address,
                 "CUDA does not define gathers (tld4, tex2Dgather) from rows of linear memory",
                 body);
  EXPECT_EQ(hint_of(body),
            "copy the texels to an array that is made with array_shape::allows_gather");
}

TEST_F(Textures, OffsetsHaveFourBits)
{
  expect_failure(error_kind::address, "the offset 8 is not in -8 to 7",
                 texture(k_line3, k_three) +
                     "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {0f00000000}], {8};");
}

TEST_F(Textures, ADimensionThatATextureDoesNotHaveIsNamed)
{
  expect_failure(error_kind::address, "the object does not have this dimension",
                 texture(k_line3, k_three) + "txq.height.b32 %v, [%rd4];");
}

TEST_F(Textures, ALevelThatATextureDoesNotHaveIsNamed)
{
  expect_failure(error_kind::address,
                 "thread (1,0,0): txq.level.width.b32 %v, [%rd4], %t (a.ptx:9): there is no level "
                 "1: textures have level 0 only",
                 texture(k_line3, k_three) + "txq.level.width.b32 %v, [%rd4], %t;");
}

TEST_F(Textures, TheSizeOfAnArrayOfCubesIsNotDefined)
{
  image_layout const layout{.texels = k_f32, .width = 1, .height = 1, .is_cube = true};
  expect_failure(error_kind::address, "PTX does not define the size of an array of cubes",
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
           {"txq.level.array_size.b32 %v, [%rd4], 0;", "no modifier is a known attribute"},
           {"txq.width.level.b32 %v, [%rd4], 0;", "too many operands"},
           {"tex.2d.level.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];",
            "unknown modifier .level"},
           {"tld4.r.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%r1, %f5, %f5, %f5}];",
            "CUDA defines gathers from 2-D arrays without layers only"},
           {"tld4.r.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5, %f5, %f5}];",
            "CUDA defines gathers from 2-D arrays without layers only"},
           {"tld4.r.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%r1, %f5, %f5, %f5}];",
            "CUDA defines gathers from 2-D arrays without layers only"},
           {"txq.color.b32 %v, [%rd4];", "no modifier is a known attribute"},
           {"txq.width.b32 %v, %rd4;", "no object"},
           {"istypep.texref %p1, %rd4;",
            "it does not support references to textures and surfaces"}})
    expect_failure(error_kind::refused, reason, text);
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
           {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5, %f5}];",
            "a vector of 3 operands"},
           {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {1}];",
            "an integer where the instruction has a float"},
           {"tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5}];",
            "a float where the instruction has an integer"},
           {"tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%r1, %r2, %r3, %f1}];",
            "a float where the instruction has an integer"},
           {"tex.2d.v4.u32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}];",
            "a float where the instruction has an integer"},
           {"tex.2d.v2.f16x2.f32 {%f1, %f2}, [%rd4, {%f5, %f6}];",
            "a float of 32 bits where the instruction has two halves"},
           {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}], {%f1, %f2};",
            "a float where the instruction has an integer"},
           {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%fd4, {%f5}];",
            "a float where the instruction has an integer"},
           {"tex.level.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}], 1;",
            "an integer where the instruction has a float"},
           {"tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}], %f5, %f5;",
            "a gradient is a vector"},
           {"tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5}], {%f5}, {%f5};",
            "a gradient of 1 operands, not 2"},
           {"txq.level.width.b32 %v, [%rd4], %f1;", "a float where the instruction has an integer"},
           {"txq.width.b32 _, [%rd4];", "the result is discarded"},
           {"tex.1d.v4.f32.f32 {_, _, _, _}, [%rd4, {%f5}];", "the result is discarded"},
           {"tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5, %f5, %f5}];",
            "four texels of a line or a volume"}})
    expect_failure(error_kind::invalid, reason, text);
}

}  // namespace
}  // namespace fatlink::interpreter
