// SPDX-License-Identifier: Apache-2.0
#include "linker/image_functions.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fixtures.hpp"

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

TEST(ImageFunctions, RefusesACubinThatIsNotExecutable)
{
  byte_buffer const zeros(64);
  expect_error<file_error>([&] { check_executable(zeros); }, "not a 64-bit ELF file");
  expect_error<file_error>([] { check_executable({}); }, "truncated");
  expect_error<file_error>([] { check_executable(fixtures::bytes("forms/double.cubin")); },
                           "linked image: has the ELF type 0x1, not that of an executable, so no "
                           "GPU loads it, at byte 16");
}
