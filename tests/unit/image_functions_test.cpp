// SPDX-License-Identifier: Apache-2.0
#include "linker/image_functions.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"

using namespace fatlink;
using namespace fatlink::detail;

TEST(ImageFunctions, KnowsACallThatIsLeftByItsName)
{
  EXPECT_FALSE(linked_functions({"apply_transform", "user_transform"}).inlined("user_transform"));
  EXPECT_FALSE(linked_functions({"apply_transform", "$apply_transform$user_transform"})
                   .inlined("user_transform"));
  EXPECT_TRUE(linked_functions({"apply_transform"}).inlined("user_transform"));
  EXPECT_TRUE(linked_functions({"apply_transform", "my_user_transform"}).inlined("user_transform"));
}

TEST(ImageFunctions, ListsFunctionsOfPtx)
{
  EXPECT_EQ(functions_in_ptx(".version 9.0\n.func (.param .b32 r) f(.param .b32 p) { ret; } "
                             ".visible .entry k() { ret; }"),
            (std::vector<std::string>{"f", "k"}));
}

TEST(ImageFunctions, RefusesWhatIsNoCubin)
{
  expect_error<file_error>([] { functions_in_cubin({}); }, "truncated");
  byte_buffer const zeros(64);
  expect_error<file_error>([&] { functions_in_cubin(zeros); }, "not a 64-bit ELF file");
}
