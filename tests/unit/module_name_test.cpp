// SPDX-License-Identifier: Apache-2.0
#include "input/read_modules.hpp"

#include <gtest/gtest.h>

using fatlink::detail::module_name;
using fatlink::detail::name_member;
using fatlink::detail::parse_module_name;

namespace {

void expect_parts(char const* name, module_name const& parts)
{
  auto const result = parse_module_name(name);
  EXPECT_EQ(result.file, parts.file) << name;
  EXPECT_EQ(result.member, parts.member) << name;
  EXPECT_EQ(result.count, parts.count) << name;
}

}  // namespace

TEST(ModuleName, OfAFileIsTheFile)
{
  for (auto const* name : {"", "x.ptx", "a/b.cubin", "x (copy).ptx"})
    expect_parts(name, {.file = name});
}

TEST(ModuleName, OfATranslationUnitHasTheFileOfItsObject)
{
  expect_parts("r.o[1]", {.file = "r.o"});
  expect_parts("r.o[12]", {.file = "r.o"});
  expect_parts("a[1].o[2]", {.file = "a[1].o"});
}

TEST(ModuleName, OfAMemberHasTheArchiveAndTheMember)
{
  expect_parts("lib.a(b.o)", {.file = "lib.a", .member = "b.o"});
  expect_parts("lib.a(b.o)[2]", {.file = "lib.a", .member = "b.o"});
  expect_parts("lib.a(b(1).o)", {.file = "lib.a", .member = "b(1).o"});
  expect_parts("my(lib).a(b.o)", {.file = "my(lib).a", .member = "b.o"});
}

TEST(ModuleName, OfOneOfSeveralMembersOfANameHasItsCount)
{
  expect_parts("lib.a(b.o#2)", {.file = "lib.a", .member = "b.o", .count = "2"});
  expect_parts("lib.a(b.o#10)[3]", {.file = "lib.a", .member = "b.o", .count = "10"});
  expect_parts("lib.a(b#1.o#2)", {.file = "lib.a", .member = "b#1.o", .count = "2"});
}

TEST(ModuleName, HasNoUnitAndNoCountWithoutDigits)
{
  for (auto const* name : {"r.o[]", "r.o[x]", "r.o[1x]", "r.o]", "1]"})
    expect_parts(name, {.file = name});
  for (auto const* member : {"b.o#", "b.o#x", "b.o#2x"})
    expect_parts(("lib.a(" + std::string(member) + ")").c_str(),
                 {.file = "lib.a", .member = member});
}

TEST(ModuleName, WithoutAnArchiveBeforeAMatchingParenthesisIsAFile)
{
  for (auto const* name : {"b.o)", "(b.o)", "a)b)", "((a))"}) expect_parts(name, {.file = name});
}

TEST(ModuleName, OfAMemberIsThatWhichIsParsed)
{
  EXPECT_EQ(name_member("lib.a", "b.o", 1), "lib.a(b.o)");
  EXPECT_EQ(name_member("lib.a", "b.o", 2), "lib.a(b.o#2)");
  expect_parts(name_member("lib.a", "b.o", 3).c_str(),
               {.file = "lib.a", .member = "b.o", .count = "3"});
}
