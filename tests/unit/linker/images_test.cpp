// SPDX-License-Identifier: Apache-2.0
// What is read from linked images and from logs of links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fixtures.hpp"
#include "linker/check_opaque_inputs.hpp"
#include "linker/image_functions.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using fatlink::detail::read_duplicate;
using testing::ElementsAre;

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

TEST(ImageCalls, AreReadFromPtx)
{
  EXPECT_THAT(
      calls_in_ptx(".version 9.0\n"
                   ".func (.param .b32 r) f(.param .b32 p) { call.uni (r0), g, (p0); ret; }\n"
                   ".visible .entry k() { call h; ret; }"),
      ElementsAre(image_call{"f", "r0"}, image_call{"f", "g"}, image_call{"f", "p0"},
                  image_call{"k", "h"}));
}

TEST(ImageCalls, OfAKernelsOwnFunctionsAreReadFromItsName)
{
  EXPECT_EQ(split_inner_name("$k$f"), (image_call{"k", "f"}));
  EXPECT_EQ(split_inner_name("$k$f$g"), (image_call{"k", "f$g"}));
  for (auto const* name : {"", "$", "f", "$f", "f$g"})
    EXPECT_EQ(split_inner_name(name), image_call{}) << name;
}

TEST(ImageCalls, OfADamagedCubinAreAnError)
{
  expect_error<file_error>([] { calls_in_cubin({}); }, "linked image: truncated");
}

TEST(DuplicateSymbols, ReadsTheSymbolAndTheLaterFileFromTheLog)
{
  for (auto const* log :
       {"ERROR in nvvmCompileProgram: NVVM_ERROR_COMPILATION\n"  // 13.0
        "lib.a(b.o): link error: error: Linking globals named 'f': symbol multiply defined!\n",
        "lib.a(b.o): link error: error: Linking globals named 'f': symbol multiply defined!\n\n"
        "ERROR NVVM_ERROR_COMPILATION (9) in nvvmCompileProgram\n"}) {  // 13.3
    auto const report = read_duplicate(log);
    ASSERT_TRUE(report) << log;
    EXPECT_EQ(report->symbol, "f");
    EXPECT_EQ(report->file, "lib.a(b.o)");
  }
}

TEST(DuplicateSymbols, ReadsNothingFromOtherLogs)
{
  for (auto const* log :
       {"", "ptxas fatal   : Unresolved extern function 'f'", "Linking globals named 'f",
        "Linking globals named 'f': symbol multiply defined!",
        "a: link error: error: Linking globals named 'f': symbols have different types",
        "a: link error: error: symbol multiply defined!"})
    EXPECT_FALSE(read_duplicate(log)) << log;
}
