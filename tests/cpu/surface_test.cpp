// SPDX-License-Identifier: Apache-2.0
// Accesses to surfaces.
#include "texture_fixture.hpp"

namespace fatlink::interpreter {
namespace {

constexpr image_layout k_line4{.texels = k_u32, .width = 4};
constexpr image_layout k_plane{.texels = k_u32, .width = 2, .height = 2};
std::vector<std::uint32_t> const k_texels{10, 20, 30, 40};
std::vector<std::uint32_t> const k_numbers{1, 2, 3, 4, 5, 6, 7, 8};

TEST_F(Textures, SurfacesAreReadByBytes)
{
  expect_integers(
      {10, 20, 30, 40},
      surface(k_line4, k_texels) + "shl.b32 %r1, %t, 2; suld.b.1d.b32.trap {%v}, [%rd4, {%r1}];");
}

TEST_F(Textures, RowsOfSurfacesAreTexels)
{
  expect_integers({20, 40}, surface(k_plane, k_texels) + "suld.b.2d.b32.trap %v, [%rd4, {4, %t}];");
}

TEST_F(Textures, SlicesAndLayersOfSurfacesAreRead)
{
  expect_integers({4, 8},
                  surface({.texels = k_u32, .width = 2, .height = 2, .depth = 2}, k_numbers) +
                      "suld.b.3d.b32.trap {%v}, [%rd4, {4, 1, %t, %t}];");
  expect_integers({4, 8},
                  surface({.texels = k_u32, .width = 2, .height = 2, .layers = 2}, k_numbers) +
                      "suld.b.a2d.b32.trap {%v}, [%rd4, {%t, 4, 1, 1}];");
  expect_integers({2, 4}, surface({.texels = k_u32, .width = 2, .layers = 4}, k_numbers) +
                              "suld.b.a1d.b32.trap {%v}, [%rd4, {%t, 4}];");
}

TEST_F(Textures, FacesOfCubesAreLayersOfSurfaces)
{
  image_layout const layout{.texels = k_u32, .width = 1, .height = 1, .is_cube = true};
  expect_integers({1, 2, 3, 4, 5, 6}, surface(layout, std::vector{1U, 2U, 3U, 4U, 5U, 6U}) +
                                          "suld.b.a2d.b32.trap {%v}, [%rd4, {%t, 0, 0, 0}];");
}

TEST_F(Textures, VectorsAndNarrowElementsOfSurfacesAreRead)
{
  auto const handle = surface(k_line4, std::vector{0x04030201U, 6U, 7U, 8U});
  expect_integers({0x04}, handle +
                              "suld.b.1d.v4.b8.trap {%h1, %h2, %h3, %h4}, [%rd4, {0}]; "
                              "cvt.u32.u16 %v, %h4;");
  expect_integers({0x0403}, handle + "suld.b.1d.b16.trap {%h1}, [%rd4, {2}]; cvt.u32.u16 %v, %h1;");
  expect_integers({8}, handle +
                           "suld.b.1d.v2.b64.trap {%rd5, %rd6}, [%rd4, {0}]; shr.u64 %rd6, "
                           "%rd6, 32; cvt.u32.u64 %v, %rd6;");
  expect_integers({7}, handle + "suld.b.1d.v4.b32.cg.trap {%r1, %r2, %v, %r3}, [%rd4, {0}];");
}

TEST_F(Textures, ClampReadsTheNearestBytes)
{
  expect_integers({10, 10, 20, 30, 40, 40}, surface(k_line4, k_texels) +
                                                "sub.s32 %r1, %t, 1; shl.b32 %r1, %r1, 2; "
                                                "suld.b.1d.b32.clamp {%v}, [%rd4, {%r1}];");
}

TEST_F(Textures, ZeroReadsZeroAndWritesNothing)
{
  expect_integers({0, 10, 20, 30, 40, 0},
                  surface(k_line4, k_texels) +
                      "sub.s32 %r1, %t, 1; shl.b32 %r1, %r1, 2; mov.b32 %v, 9; "
                      "suld.b.1d.b32.zero {%v}, [%rd4, {%r1}]; sust.b.1d.b32.zero [%rd4, {-4}], "
                      "{%t}; sust.b.1d.b32.zero [%rd4, {16}], {%t};");
  EXPECT_EQ(contents<std::uint32_t>(4), k_texels);
}

TEST_F(Textures, SurfacesAreWrittenByBytes)
{
  run(surface(k_plane, k_texels) + "shl.b32 %r1, %t, 2; sust.b.2d.b32.trap [%rd4, {%r1, 1}], {%t};",
      2);
  EXPECT_EQ(contents<std::uint32_t>(4), (values{10, 20, 0, 1}));
}

TEST_F(Textures, NarrowElementsOfSurfacesAreWritten)
{
  run(surface(k_line4, k_texels) +
          "mov.u16 %h1, 0x1FF; sust.b.1d.b8.clamp [%rd4, {1}], {%h1}; "
          "sust.b.1d.v2.b16.wb.trap [%rd4, {4}], {%h1, %h1};",
      1);
  EXPECT_EQ(contents<std::uint32_t>(4), (values{0xFF0A, 0x01FF01FF, 30, 40}));
}

TEST_F(Textures, FormattedStoresConvertToTheFormat)
{
  run(surface({.texels = {4, 8, texel_kind::signed_integer}, .width = 2},
              std::vector<std::int8_t>(8)) +
          "sust.p.1d.v4.b32.trap [%rd4, {1}], {-1, 2, -128, 127};",
      1);
  EXPECT_EQ(contents<std::int8_t>(8), (std::vector<std::int8_t>{0, 0, 0, 0, -1, 2, -128, 127}));
  run(surface({.texels = k_f16, .width = 2}, std::vector<std::uint16_t>(2)) +
          "mov.b32 %r1, 0x3FC00000; sust.p.1d.b32.trap [%rd4, {1}], {%r1};",
      1);
  EXPECT_EQ(contents<std::uint16_t>(2), (std::vector<std::uint16_t>{0, 0x3E00}));
}

TEST_F(Textures, ReductionsOfSurfacesAreAtomic)
{
  auto const handle = surface(k_line4, std::vector<std::uint32_t>{0, 0xFFFFFFFF, 0, 0xFF});
  run(handle +
          "sured.b.add.1d.u32.trap [%rd4, {0}], %t; sured.b.min.1d.u32.trap [%rd4, {4}], %t; "
          "sured.b.or.1d.b32.trap [%rd4, {8}], %t; sured.b.and.1d.b32.trap [%rd4, {12}], %t;",
      32);
  EXPECT_EQ(contents<std::uint32_t>(4), (values{496, 0, 31, 0}));
}

TEST_F(Textures, FormattedReductionsHaveTheSignOfTheFormat)
{
  auto const reduce = std::string("mov.b32 %r1, -5; sured.p.min.1d.b32.trap [%rd4, {1}], %r1; ") +
                      "sured.p.max.1d.b32.clamp [%rd4, {-1}], %r1;";
  run(surface({.texels = k_s32, .width = 2}, std::vector{1, 2}) + reduce, 1);
  EXPECT_EQ(contents<std::int32_t>(2), (std::vector{1, -5}));
  run(surface({.texels = k_u32, .width = 2}, std::vector{1U, 2U}) + reduce, 1);
  EXPECT_EQ(contents<std::uint32_t>(2), (values{0xFFFFFFFB, 2}));
}

TEST_F(Textures, AttributesOfSurfacesAreQueried)
{
  auto const handle = surface({.texels = k_u32, .width = 2, .height = 2, .layers = 2}, k_numbers);
  expect_integers({2}, handle + "suq.width.b32 %v, [%rd4];");
  expect_integers({2}, handle + "suq.array_size.b32 %v, [%rd4];");
}

TEST_F(Textures, TrapFailsOutOfBounds)
{
  expect_failure(error_kind::address,
                 "kernel k, block (0,0,0) thread (2,0,0): suld.b.2d.b32.trap {%v}, [%rd4, {0, %t}] "
                 "(a.ptx:9): 4 bytes at byte 0 of row 2 are not in an image of 2 x 2 texels",
                 surface(k_plane, k_texels) + "suld.b.2d.b32.trap {%v}, [%rd4, {0, %t}];");
  expect_failure(error_kind::address, "4 bytes at byte -4 are not in an image of 4 texels",
                 surface(k_line4, k_texels) + "sust.b.1d.b32.trap [%rd4, {-4}], {%t};");
  expect_failure(error_kind::address,
                 "of row 0 of layer 2 are not in an image of 2 x 1 texels in 2 layers",
                 surface({.texels = k_u32, .width = 2, .height = 1, .layers = 2}, k_texels) +
                     "suld.b.a2d.b32.trap {%v}, [%rd4, {2, 0, 0, 0}];");
}

TEST_F(Textures, AccessesToSurfacesAreAligned)
{
  expect_failure(error_kind::address, "not aligned to its size",
                 surface(k_line4, k_texels) + "suld.b.1d.b32.trap {%v}, [%rd4, {2}];");
}

TEST_F(Textures, ATextureIsNoSurface)
{
  expect_failure(error_kind::address, "is a texture, not a surface",
                 texture(k_line4, k_texels) + "suld.b.1d.b32.trap {%v}, [%rd4, {0}];");
}

TEST_F(Textures, SurfacesNeedAnArrayThatAllowsThem)
{
  auto const handle = memory_->textures().add_surface(make_image(k_line4, k_texels));
  auto const body = load(handle) + "sust.b.1d.b32.trap [%rd4, {0}], {%t};";
  expect_failure(error_kind::address, "the array was made without access as a surface", body);
  EXPECT_EQ(hint_of(body), "set array_shape::allows_surface when the array is made");
}

TEST_F(Textures, FormattedStoresThatPtxLeavesOpenFail)
{
  auto const handle = surface({.texels = {2, 8, texel_kind::unsigned_integer}, .width = 2},
                              std::vector<std::uint8_t>(4));
  auto const body = handle + "sust.p.1d.b32.trap [%rd4, {1}], {%t};";
  expect_failure(error_kind::address, "the surface has 2 channels, and 1 are written", body);
  EXPECT_EQ(hint_of(body), "pass a surface with that many channels, or fix the device code");
  expect_failure(error_kind::address, "the value 256 does not fit in 8 bits",
                 handle + "sust.p.1d.v2.b32.trap [%rd4, {1}], {%t, 256};");
}

TEST_F(Textures, FormattedReductionsNeedIntegersOf32Bits)
{
  auto const body = surface({.texels = k_f32, .width = 1}, std::vector{1.0F}) +
                    "sured.p.add.1d.b32.trap [%rd4, {0}], %t;";
  expect_failure(error_kind::address, "the surface's texels are not integers of 32 bits", body);
  EXPECT_EQ(hint_of(body),
            "pass a surface of u32 or s32 with one channel, or use sured.b in the device code");
}

TEST_F(Textures, RefusalsOfSurfacesStateTheirReason)
{
  for (auto const& [text, reason] : std::initializer_list<std::pair<char const*, char const*>>{
           {"suld.p.1d.b32.trap {%v}, [%rd4, {%r1}];", "a formatted load"},
           {"suld.1d.b32.trap {%v}, [%rd4, {%r1}];", "neither .b nor .p"},
           {"suld.b.1d.f32.trap {%f1}, [%rd4, {%r1}];", "not a supported type"},
           {"suld.b.1d.v4.b64.trap {%rd5, %rd5, %rd5, %rd5}, [%rd4, {%r1}];", "more than 16 bytes"},
           {"sust.p.1d.b64.trap [%rd4, {%r1}], {%rd5};", "not a supported type"},
           {"sured.b.xor.1d.b32.trap [%rd4, {%r1}], %r2;", "no modifier is an operation"},
           {"sured.p.min.1d.b64.trap [%rd4, {%r1}], %rd5;", "samples that are not of 32 bits"},
           {"suq.memory_layout.b32 %v, [%rd4];",
            "PTX does not define .memory_layout of an object"}})
    expect_failure(error_kind::refused, reason, text);
}

TEST_F(Textures, CacheOperatorsAreThoseOfLoadsAndOfStores)
{
  auto const handle = surface(k_line4, k_texels);
  for (std::string const word : {"ca", "cg", "cs", "cv"})
    expect_integers({10}, handle + "suld.b.1d." + word + ".b32.trap {%v}, [%rd4, {0}];");
  for (std::string const word : {"wb", "cg", "cs", "wt"}) {
    run(handle + "sust.b.1d." + word + ".b32.trap [%rd4, {4}], {1};", 1);
    run(handle + "sust.p.1d." + word + ".b32.trap [%rd4, {2}], {2};", 1);
  }
  EXPECT_EQ(contents<std::uint32_t>(4), (values{10, 1, 2, 40}));
  for (std::string const text :
       {"suld.b.1d.wb.b32.trap {%v}, [%rd4, {0}];", "suld.b.1d.wt.b32.trap {%v}, [%rd4, {0}];",
        "sust.b.1d.ca.b32.trap [%rd4, {4}], {1};", "sust.p.1d.cv.b32.trap [%rd4, {4}], {1};",
        "sured.b.add.1d.cg.u32.trap [%rd4, {4}], 1;"})
    expect_failure(error_kind::refused, "unknown modifier ." + text.substr(text.find("1d.") + 3, 2),
                   text);
}

TEST_F(Textures, ReductionsHaveTheTypesThatPtxDefines)
{
  for (std::string const form :
       {"b.add.1d.b32", "b.add.1d.s64", "b.add.1d.b64", "b.min.1d.b32", "b.max.1d.b64",
        "b.and.1d.u32", "b.or.1d.b64", "b.add.1d.u16", "b.add.1d.f32", "p.add.1d.u32",
        "p.min.1d.s32", "p.add.1d.b64", "p.or.1d.b64"})
    expect_failure(error_kind::invalid, "the operation does not have this type",
                   "sured." + form + ".trap [%rd4, {%r1}], %r1;");
}

TEST_F(Textures, RegistersOfReductionsAndFormattedStoresMayBeWider)
{
  auto const wide = surface(k_line4, k_texels) + "mov.u64 %rd5, 0x500000003; ";
  run(wide +
          "sured.b.add.1d.u32.trap [%rd4, {0}], %rd5; sured.p.max.1d.b32.trap [%rd4, {1}], %rd5; "
          "sust.p.1d.b32.trap [%rd4, {2}], {%rd5};",
      1);
  EXPECT_EQ(contents<std::uint32_t>(4), (values{13, 20, 3, 40}));
}

TEST_F(Textures, TheKindOfAnAccessFollowsTheName)
{
  for (auto const* const text :
       {"suld.1d.b.b32.trap {%v}, [%rd4, {%r1}];", "sured.add.b.1d.u32.trap [%rd4, {%r1}], %r1;"})
    expect_failure(error_kind::refused, "neither .b nor .p", text);
}

TEST_F(Textures, WrongOperandsOfSurfacesAreInvalid)
{
  for (auto const& [text, reason] : std::initializer_list<std::pair<char const*, char const*>>{
           {"suld.b.1d.b32 {%v}, [%rd4, {%r1}];", "neither .trap nor .clamp nor .zero"},
           {"suld.b.1d.b32.trap {%v}, [%fd4, {%r1}];",
            "a float where the instruction has an integer"},
           {"suld.b.2d.b32.trap {%v}, [%rd4, {%r1, %f1}];",
            "a float where the instruction has an integer"},
           {"suld.b.2d.b32.trap {%v}, [%rd4, {%r1, %r1, %r1}];", "a vector of 3 operands"},
           {"suld.b.1d.v2.b32.trap {_, _}, [%rd4, {%r1}];", "the result is discarded"},
           {"suld.b.1d.b32.trap {%h1}, [%rd4, {%r1}];", "a register is too narrow"},
           {"sust.b.1d.b64.trap [%rd4, {%r1}], {0f3F800000};", "a float of another width"},
           {"sured.b.add.1d.u32.trap [%rd4, {%r1}], {%r2};", "the operand is a vector"},
           {"sured.b.add.1d.u32.trap [%rd4, {%r1}], %f1;",
            "a float where the instruction has an integer"},
           {"suq.width.b32 _, [%rd4];", "the result is discarded"},
           {"suld.b.cube.b32.trap {%v}, [%rd4, {%r1, %r1, %r1, %r1}];",
            "surfaces of cubes are accessed as .a2d"},
           {"suld.b.1d.v2.b32.trap {%v}, [%rd4, {%r1}];", "the vector has another length"},
           {"sust.p.1d.v2.b32.trap [%rd4, {%r1}], {%v};", "the vector has another length"},
           {"sured.b.add.a1d.u32.trap [%rd4, {%r1, %r1}], %r1;", "reductions of layered surfaces"}})
    expect_failure(error_kind::invalid, reason, text);
}

}  // namespace
}  // namespace fatlink::interpreter
