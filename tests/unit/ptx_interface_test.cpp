// SPDX-License-Identifier: Apache-2.0
#include "fatlink/ptx_interface.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fixtures.hpp"

using namespace fatlink;

TEST(PtxInterface, ReadsARealLibraryAndTransform)
{
  auto const library =
      read_ptx_interface(read_ptx(fixtures::fatbin("library.fatbin").entries()[0]));
  ASSERT_EQ(library.kernels.size(), 1U);
  EXPECT_EQ(library.kernels[0].name, "apply_transform");
  EXPECT_EQ(library.kernels[0].parameters.size(), 3U);
  ASSERT_EQ(library.hooks.size(), 1U);
  EXPECT_EQ(to_string(library.hooks[0]), "(b32) user_transform(b32)");
  auto const transform =
      read_ptx_interface(read_ptx(fixtures::fatbin("transform.fatbin").entries()[0]));
  ASSERT_EQ(transform.definitions.size(), 1U);
  EXPECT_EQ(to_string(transform.definitions[0]), "(b32) user_transform(b32)");
}

TEST(PtxInterface, ReadsEveryFormOfParameter)
{
  auto const found = read_ptx_interface(R"(.version 9.0
.target sm_90
.visible .func  (.param .align 16 .b8 func_retval0[32]) by_value(.param .align 8 .b8 p[24], .param .b64 q) { ret; }
.weak .func shared_one() { { ret; } }
.func internal(.param .b32 p) { ret; }
.visible .entry k(.param .u64 .ptr .global .align 4 in, .param .f32 x) .maxntid 256, 1, 1 { ret; }
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
)");
  ASSERT_EQ(found.definitions.size(), 1U);
  EXPECT_EQ(found.definitions[0].results[0], (ptx_parameter{"b8", 16, 32}));
  EXPECT_EQ(found.definitions[0].parameters[0], (ptx_parameter{"b8", 8, 24}));
  EXPECT_EQ(found.weak[0].name, "shared_one");
  EXPECT_EQ(to_string(found.kernels[0]), "k(u64, f32)");
  EXPECT_EQ(found.kernels[0].parameters[0].align, 0U);
  EXPECT_EQ(found.hooks[0].name, "vprintf");
}

TEST(PtxInterface, IgnoresCommentsStringsAndPrototypesDefinedLater)
{
  auto const found = read_ptx_interface(R"(// .visible .func nothing() {}
.version 9.0 /* .visible .func
nothing() {} */
.extern .func f(.param .b32 p);
.visible .func f(.param .b32 p) { .loc 1 "}"; ret; }
)");
  EXPECT_TRUE(found.hooks.empty());
  ASSERT_EQ(found.definitions.size(), 1U);
  EXPECT_EQ(found.definitions[0].name, "f");
}

TEST(PtxInterface, RefusesDamagedTextWithItsLine)
{
  expect_error<file_error>([] { read_ptx_interface("hello", "f"); },
                           "f: its PTX does not begin with .version (line 1)");
  expect_error<file_error>([] { read_ptx_interface(".version 9.0\n.visible .func f( {"); },
                           "(line 2)");
  expect_error<file_error>([] { read_ptx_interface(".version 9.0\n.visible .func f() {\n{"); },
                           "inside a block (line 3)");
  expect_error<file_error>([] { read_ptx_interface(".version 9.0\n.func f(.param .b8 p[x]) {}"); },
                           "'x' where a number belongs");
}
