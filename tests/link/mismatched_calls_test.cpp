// SPDX-License-Identifier: Apache-2.0
// Calls by address in linked PTX, and the types of the functions that they reach.
#include "linker/mismatched_calls.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace fatlink;

namespace {

constexpr char const* k_post = R"(
.func (.param .b64 func_retval0) post(.param .b64 post_param_0) { ret; }
)";

/// A kernel that calls what is in %rd1 as float(float), after `address`.
std::string caller(std::string const& name, std::string const& address)
{
  return ".visible .entry " + name + "()\n{\n.reg .b64 %rd<2>;\n" + address + R"(
{
.param .b32 param0;
.param .b32 retval0;
prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
call (retval0), %rd1, (param0), prototype_0;
}
ret;
}
)";
}

std::size_t count_mismatches(std::string const& functions)
{
  return detail::find_mismatched_calls(".version 9.0\n.target sm_90\n" + functions, "test").size();
}

}  // namespace

TEST(MismatchedCalls, OfAFunctionOfAnotherTypeAreFound)
{
  EXPECT_EQ(count_mismatches(k_post + caller("k", "mov.u64 %rd1, post;")), 1U);
}

TEST(MismatchedCalls, OfAFunctionOfTheSameTypeAreNone)
{
  std::string const same = ".func (.param .b32 r) post(.param .b32 p) { ret; }\n";
  EXPECT_EQ(count_mismatches("\n" + same + caller("k", "mov.u64 %rd1, post;")), 0U);
}

TEST(MismatchedCalls, AreNotSeenThroughARegisterOfAnotherFunction)
{
  std::string const holder =
      ".visible .entry holder() { .reg .b64 %rd<2>; mov.u64 %rd1, post; st.u64 [%rd1], %rd1; ret; "
      "}";
  EXPECT_EQ(count_mismatches(k_post + holder + caller("k", "ld.global.u64 %rd1, [table];")), 0U);
}
