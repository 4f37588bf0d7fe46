// SPDX-License-Identifier: Apache-2.0
#include "fatlink/image.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"

using namespace fatlink;

TEST(Image, KnowsACallThatIsLeftByItsName)
{
  EXPECT_FALSE(is_inlined({"apply_transform", "user_transform"}, "user_transform"));
  EXPECT_FALSE(
      is_inlined({"apply_transform", "$apply_transform$user_transform"}, "user_transform"));
  EXPECT_TRUE(is_inlined({"apply_transform"}, "user_transform"));
  EXPECT_TRUE(is_inlined({"apply_transform", "my_user_transform"}, "user_transform"));
}

TEST(Image, WithoutHooksHasInlinedNothing)
{
  EXPECT_FALSE(linked_image{}.inlined());
}

TEST(Image, ListsFunctionsOfPtx)
{
  EXPECT_EQ(functions_in_ptx(".version 9.0\n.func (.param .b32 r) f(.param .b32 p) { ret; } "
                             ".visible .entry k() { ret; }"),
            (std::vector<std::string>{"f", "k"}));
}

TEST(Image, RefusesWhatIsNoCubin)
{
  expect_error<file_error>([] { functions_in_cubin({}); }, "truncated");
  byte_buffer const zeros(64);
  expect_error<file_error>([&] { functions_in_cubin(zeros); }, "no 64-bit ELF");
}
