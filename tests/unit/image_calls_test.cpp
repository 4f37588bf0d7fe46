// SPDX-License-Identifier: Apache-2.0
#include "linker/image_functions.hpp"

#include <gmock/gmock.h>

#include "expect_error.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using testing::ElementsAre;

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
