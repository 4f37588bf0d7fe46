// SPDX-License-Identifier: Apache-2.0
// Calls by address in linked PTX, and the types of the functions that they reach.
#include "linker/compare_orders.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <string>

#include "toolkit/link_in_process.hpp"

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

std::string function_name(std::string const& prefix, std::size_t number)
{
  return prefix + std::to_string(number);
}

/// A container of the PTX entry `text` and an entry of LTO-IR of the same target.
fatbin with_ltoir(std::string const& text, std::string const& name)
{
  constexpr std::size_t k_container_header = 16;
  constexpr std::byte k_ltoir{8};
  auto const ptx = detail::link_input::from_ptx(text, target(90), name);
  byte_buffer bytes(ptx.bytes().begin(), ptx.bytes().end());
  byte_buffer entry(bytes.begin() + k_container_header, bytes.end());
  entry[0] = k_ltoir;
  bytes.insert(bytes.end(), entry.begin(), entry.end());
  std::uint64_t const size = 2 * entry.size();
  std::memcpy(bytes.data() + 8, &size, sizeof(size));
  return fatbin::from_bytes(std::move(bytes), name);
}

/// A fatbin whose PTX defines `count` functions.
fatbin definer(std::string const& prefix, std::size_t count)
{
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  for (std::size_t number = 0; number < count; ++number)
    text += ".visible .func " + function_name(prefix, number) + "(.param .b64 p) { ret; }\n";
  return with_ltoir(text, prefix);
}

/// A linked PTX that calls the first `count` functions of definer() by another type.
std::string linked_ptx(std::string const& prefix, std::size_t count)
{
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  for (std::size_t number = 0; number < count; ++number) {
    auto const name = function_name(prefix, number);
    text += ".func " + name + "(.param .b64 p) { ret; }\n";
    text += caller("call_" + name, "mov.u64 %rd1, " + name + ";");
  }
  return text;
}

}  // namespace

TEST(CheckCalls, OfAThousandFunctionsAmongManyTakeSeconds)
{
  constexpr std::size_t k_definitions = 50'000;
  std::vector<fatbin> const inputs{definer("f", k_definitions), definer("g", k_definitions)};
  auto const ptx = linked_ptx("f", 1000);
  link_options options;
  options.target = target(90);
  options.mode = link_mode::lto;
  auto const start = std::clock();
  auto const findings = detail::check_calls(inputs, options, ptx);
  EXPECT_LT(std::clock() - start, 4 * CLOCKS_PER_SEC);
  ASSERT_EQ(findings.size(), 1000U);
  EXPECT_EQ(findings[0].files, (std::vector<std::string>{"f", "g"}));
}

TEST(CheckCalls, OfAFunctionOfAnotherTypeAreFound)
{
  EXPECT_EQ(count_mismatches(k_post + caller("k", "mov.u64 %rd1, post;")), 1U);
}

TEST(CheckCalls, AreFoundAfterLocationsOfTheSource)
{
  EXPECT_EQ(count_mismatches(k_post + caller("k", ".loc 1 2 3 mov.u64 %rd1, post; .loc\n1 3 4\n")),
            1U);
}

TEST(CheckCalls, OfAFunctionOfTheSameTypeAreNone)
{
  std::string const same = ".func (.param .b32 r) post(.param .b32 p) { ret; }\n";
  EXPECT_EQ(count_mismatches("\n" + same + caller("k", "mov.u64 %rd1, post;")), 0U);
}

TEST(CheckCalls, AreNotSeenThroughARegisterOfAnotherFunction)
{
  std::string const holder =
      ".visible .entry holder() { .reg .b64 %rd<2>; mov.u64 %rd1, post; st.u64 [%rd1], %rd1; ret; "
      "}";
  EXPECT_EQ(count_mismatches(k_post + holder + caller("k", "ld.global.u64 %rd1, [table];")), 0U);
}
