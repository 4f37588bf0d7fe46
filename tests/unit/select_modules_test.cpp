// SPDX-License-Identifier: Apache-2.0
// Which members of archives a link takes.
#include <gmock/gmock.h>

#include "ar_archive.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using fixtures::ar_archive;
using fixtures::to_bytes;
using testing::ElementsAre;

namespace {

/// A PTX module with these declarations.
std::string ptx(std::string const& declarations)
{
  return ".version 8.0\n.target sm_75\n.address_size 64\n" + declarations;
}

std::string hook(std::string const& name)
{
  return ".extern .func " + name + " ();\n";
}

std::string definition(std::string const& name, std::string const& linkage = ".visible")
{
  return linkage + " .func " + name + " () { ret; }\n";
}

std::string kernel(std::string const& name)
{
  return ".visible .entry " + name + " () { ret; }\n";
}

input module_of(std::string const& name, std::string const& declarations)
{
  return input::from_bytes(to_bytes(ptx(declarations)), name);
}

struct member {
  std::string name;
  std::string declarations;
};

input archive_of(std::string const& name, std::vector<member> const& members)
{
  ar_archive archive;
  for (auto const& entry : members) archive.member(entry.name + "/", ptx(entry.declarations));
  return input::from_bytes(archive.bytes(), name);
}

std::vector<std::string> names(std::vector<input> const& inputs, preflight_request request = {})
{
  request.target = target("sm_90");
  request.mode = link_mode::ptx;
  std::vector<std::string> list;
  for (auto const& module : select_modules(inputs, request)) list.push_back(module.name());
  return list;
}

input library(std::string const& hooks)
{
  return module_of("library.ptx", hooks + kernel("k"));
}

}  // namespace

TEST(SelectModules, TakesTheMembersThatDefineWhatIsMissingAndWhatTheseNeed)
{
  auto const archive = archive_of("t.a", {{"unneeded.o", definition("other")},
                                          {"a.o", definition("a") + hook("b")},
                                          {"b.o", definition("b")}});
  EXPECT_THAT(names({library(hook("a")), archive}),
              ElementsAre("library.ptx", "t.a(a.o)", "t.a(b.o)"));
}

TEST(SelectModules, TakesMembersOfArchivesBeforeTheInputThatNeedsThem)
{
  auto const archive = archive_of("t.a", {{"a.o", definition("a")}});
  EXPECT_THAT(names({archive, library(hook("a"))}), ElementsAre("t.a(a.o)", "library.ptx"));
}

TEST(SelectModules, TakesTheFirstArchiveThatDefinesAName)
{
  EXPECT_THAT(names({library(hook("a")), archive_of("1.a", {{"a.o", definition("a")}}),
                     archive_of("2.a", {{"a.o", definition("a")}})}),
              ElementsAre("library.ptx", "1.a(a.o)"));
}

TEST(SelectModules, TakesBothDefinitionsOfOneArchiveSoThatPreflightNamesThem)
{
  std::vector const inputs{library(hook("a")),
                           archive_of("t.a", {{"a.o", definition("a")}, {"b.o", definition("a")}})};
  auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().id, finding_id::duplicate_symbol);
  EXPECT_THAT(findings.front().files, ElementsAre("t.a(a.o)", "t.a(b.o)"));
}

TEST(SelectModules, TakesOneWeakDefinition)
{
  EXPECT_THAT(names({library(hook("a")), archive_of("t.a", {{"1.o", definition("a", ".weak")},
                                                            {"2.o", definition("a", ".weak")}})}),
              ElementsAre("library.ptx", "t.a(1.o)"));
}

TEST(SelectModules, TakesMembersThatDefineAMissingVariable)
{
  EXPECT_THAT(names({library(".extern .global .f32 scale;\n"),
                     archive_of("t.a", {{"v.o", ".visible .global .f32 scale = 0f40000000;\n"}})}),
              ElementsAre("library.ptx", "t.a(v.o)"));
}

TEST(SelectModules, TakesNothingForWhatAnotherInputDefines)
{
  EXPECT_THAT(names({library(hook("a")), module_of("a.ptx", definition("a")),
                     archive_of("t.a", {{"a.o", definition("a")}})}),
              ElementsAre("library.ptx", "a.ptx"));
}

TEST(SelectModules, TakesAllMembersOfWholeArchives)
{
  auto const archive = archive_of("t.a", {{"a.o", definition("a")}, {"b.o", definition("b")}});
  EXPECT_THAT(names({library(hook("a")), archive}, {.whole_archive = true}),
              ElementsAre("library.ptx", "t.a(a.o)", "t.a(b.o)"));
}

TEST(SelectModules, TakesTheMembersWithKernelsOfALibraryArchive)
{
  auto const archive = archive_of(
      "library.a",
      {{"1.o", kernel("k1") + hook("a")}, {"2.o", kernel("k2")}, {"3.o", definition("unneeded")}});
  EXPECT_THAT(names({archive, module_of("a.ptx", definition("a"))}),
              ElementsAre("library.a(1.o)", "library.a(2.o)", "a.ptx"));
}

TEST(SelectModules, TakesOnlyTheMembersWithTheKernelsThatAreAskedFor)
{
  auto const archive = archive_of("library.a", {{"1.o", kernel("k1")}, {"2.o", kernel("k2")}});
  EXPECT_THAT(names({archive}, {.kernels = {"k2"}}), ElementsAre("library.a(2.o)"));
}

TEST(SelectModules, TakesAnArchiveOfWhichNothingIsNeededIfItIsAllThereIs)
{
  EXPECT_THAT(names({archive_of("t.a", {{"a.o", definition("a")}})}), ElementsAre("t.a(a.o)"));
}

TEST(SelectModules, ReadsNoInterfaceIfThereIsNoArchive)
{
  std::vector const inputs{library(hook("a")), module_of("damaged.ptx", ".visible .func (.param) f () { }\n")};
  EXPECT_THROW((void)preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx}), file_error);
  EXPECT_EQ(select_modules(inputs, {.target = "sm_90", .mode = link_mode::ptx}).size(), 2U);
}

TEST(SelectModules, TakesOpaqueMembers)
{
  ar_archive archive;
  auto const ltoir = fixtures::bytes("forms/transform.ltoir");
  archive.member("x.ltoir/",
                 std::string(reinterpret_cast<char const*>(ltoir.data()), ltoir.size()));
  std::vector const inputs{library(hook("user_transform")),
                           input::from_bytes(archive.bytes(), "t.a")};
  auto const modules =
      select_modules(inputs, {.target = "sm_90", .mode = link_mode::lto, .allow_calls = true});
  ASSERT_EQ(modules.size(), 2U);
  EXPECT_EQ(modules.back().name(), "t.a(x.ltoir)");
}
