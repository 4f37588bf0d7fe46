// SPDX-License-Identifier: Apache-2.0
// Which members of archives a link takes.
#include <gmock/gmock.h>

#include "ar_archive.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"
#include "form_inputs.hpp"

using namespace fatlink;
using fixtures::ar_archive;
using fixtures::ptx_module;
using fixtures::with_ptx_head;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::Ne;
using testing::StartsWith;
using testing::UnorderedElementsAre;

namespace {

std::string hook(std::string const& name)
{
  return ".extern .func " + name + " ();\n";
}

std::string definition(std::string const& name, std::string const& linkage = ".visible")
{
  return linkage + " .func " + name + " () { ret; }\n";
}

std::string kernel_definition(std::string const& name)
{
  return ".visible .entry " + name + " () { ret; }\n";
}

struct member {
  std::string name;
  std::string declarations;
};

input archive_of(std::string const& name, std::vector<member> const& members)
{
  ar_archive archive;
  for (auto const& entry : members)
    archive.member(entry.name + "/", with_ptx_head(entry.declarations));
  return input::from_bytes(archive.bytes(), name);
}

std::vector<std::string> selected_modules(std::vector<input> const& inputs,
                                          preflight_request request = {})
{
  request.target = target("sm_90");
  request.mode = link_mode::ptx;
  std::vector<std::string> list;
  for (auto const& module : select_modules(inputs, request)) list.push_back(module.name());
  return list;
}

input library(std::string const& hooks)
{
  return ptx_module("library.ptx", hooks + kernel_definition("k"));
}

}  // namespace

TEST(SelectModules, TakesTheMembersThatDefineWhatIsMissingAndWhatTheseNeed)
{
  auto const archive = archive_of("t.a", {{"unneeded.o", definition("other")},
                                          {"a.o", definition("a") + hook("b")},
                                          {"b.o", definition("b")}});
  EXPECT_THAT(selected_modules({library(hook("a")), archive}),
              ElementsAre("library.ptx", "t.a(a.o)", "t.a(b.o)"));
}

TEST(SelectModules, TakesMembersOfArchivesBeforeTheInputThatNeedsThem)
{
  auto const archive = archive_of("t.a", {{"a.o", definition("a")}});
  EXPECT_THAT(selected_modules({archive, library(hook("a"))}),
              ElementsAre("t.a(a.o)", "library.ptx"));
}

TEST(SelectModules, TakesTheDefinitionsOfAllArchivesSoThatPreflightNamesThem)
{
  auto const one = archive_of("1.a", {{"a.o", definition("a")}});
  auto const other = archive_of("2.a", {{"a.o", definition("a")}});
  for (auto const& inputs :
       {std::vector{library(hook("a")), one, other}, std::vector{library(hook("a")), other, one}}) {
    auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.front().id, finding_id::duplicate_symbol);
    EXPECT_THAT(findings.front().files, UnorderedElementsAre("1.a(a.o)", "2.a(a.o)"));
  }
}

TEST(SelectModules, TakesTheSameMembersInWhateverOrderNamesAreMissing)
{
  auto const both = archive_of("1.a", {{"ab.o", definition("a") + definition("b")}});
  auto const one = archive_of("2.a", {{"b.o", definition("b")}});
  for (auto const& hooks : {hook("a") + hook("b"), hook("b") + hook("a")})
    EXPECT_THAT(selected_modules({library(hooks), both, one}),
                ElementsAre("library.ptx", "1.a(ab.o)", "2.a(b.o)"));
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
  EXPECT_THAT(selected_modules(
                  {library(hook("a")), archive_of("t.a", {{"1.o", definition("a", ".weak")},
                                                          {"2.o", definition("a", ".weak")}})}),
              ElementsAre("library.ptx", "t.a(1.o)"));
}

TEST(SelectModules, ReplacesAWeakDefinitionByAStrongOneOfAnArchive)
{
  auto const archive =
      archive_of("t.a", {{"strong.o", definition("a")}, {"weak.o", definition("a", ".weak")}});
  EXPECT_THAT(selected_modules({library(definition("a", ".weak")), archive}),
              ElementsAre("library.ptx", "t.a(strong.o)"));
  EXPECT_THAT(selected_modules(
                  {library(hook("a")), ptx_module("d.ptx", definition("a", ".weak")), archive}),
              ElementsAre("library.ptx", "d.ptx", "t.a(strong.o)"));
}

TEST(SelectModules, KeepsAWeakDefinitionForAWeakOneOfAnArchive)
{
  EXPECT_THAT(selected_modules({library(definition("a", ".weak")),
                                archive_of("t.a", {{"a.o", definition("a", ".weak")}})}),
              ElementsAre("library.ptx"));
}

TEST(SelectModules, TakesMembersThatDefineAVariableToKeep)
{
  EXPECT_THAT(selected_modules(
                  {library(""), archive_of("t.a", {{"v.o", ".visible .global .f32 scale;\n"}})},
                  {.variables = {"scale"}}),
              ElementsAre("library.ptx", "t.a(v.o)"));
}

TEST(SelectModules, TakesMembersThatDefineAMissingVariable)
{
  EXPECT_THAT(selected_modules(
                  {library(".extern .global .f32 scale;\n"),
                   archive_of("t.a", {{"v.o", ".visible .global .f32 scale = 0f40000000;\n"}})}),
              ElementsAre("library.ptx", "t.a(v.o)"));
}

TEST(SelectModules, TakesNothingForWhatAnotherInputDefines)
{
  EXPECT_THAT(selected_modules({library(hook("a")), ptx_module("a.ptx", definition("a")),
                                archive_of("t.a", {{"a.o", definition("a")}})}),
              ElementsAre("library.ptx", "a.ptx"));
}

TEST(SelectModules, TakesAllMembersOfWholeArchives)
{
  auto const archive = archive_of("t.a", {{"a.o", definition("a")}, {"b.o", definition("b")}});
  EXPECT_THAT(selected_modules({library(hook("a")), archive}, {.whole_archive = true}),
              ElementsAre("library.ptx", "t.a(a.o)", "t.a(b.o)"));
}

TEST(SelectModules, TakesTheMembersWithKernelsOfALibraryArchive)
{
  auto const archive = archive_of("library.a", {{"1.o", kernel_definition("k1") + hook("a")},
                                                {"2.o", kernel_definition("k2")},
                                                {"3.o", definition("unneeded")}});
  EXPECT_THAT(selected_modules({archive, ptx_module("a.ptx", definition("a"))}),
              ElementsAre("library.a(1.o)", "library.a(2.o)", "a.ptx"));
}

TEST(SelectModules, TakesOnlyTheMembersWithTheKernelsThatAreAskedFor)
{
  auto const archive =
      archive_of("library.a", {{"1.o", kernel_definition("k1")}, {"2.o", kernel_definition("k2")}});
  EXPECT_THAT(selected_modules({archive}, {.kernels = {"k2"}}), ElementsAre("library.a(2.o)"));
}

TEST(SelectModules, TakesTheMembersWithKernelsOfAnyArchiveIfNothingElseHasKernels)
{
  auto const kernels = archive_of("library.a", {{"k.o", kernel_definition("k") + hook("a")}});
  auto const hooks = archive_of("t.a", {{"a.o", definition("a")}, {"b.o", definition("b")}});
  EXPECT_THAT(selected_modules({hooks, kernels}), ElementsAre("t.a(a.o)", "library.a(k.o)"));
  EXPECT_THAT(selected_modules({ptx_module("a.ptx", definition("a")), kernels}),
              ElementsAre("a.ptx", "library.a(k.o)"));
  EXPECT_THAT(selected_modules({library(hook("a")), hooks, kernels}),
              ElementsAre("library.ptx", "t.a(a.o)"));
}

TEST(SelectModules, TakesTheMembersWithKernelsIfAKernelThatIsAskedForIsNotFound)
{
  std::vector const inputs{
      archive_of("library.a", {{"k.o", kernel_definition("kernel1") + hook("a")}}),
      archive_of("t.a", {{"a.o", definition("a")}})};
  auto const findings =
      preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx, .kernels = {"kernel2"}});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().id, finding_id::unknown_kernel);
  EXPECT_EQ(findings.front().hint, "did you mean kernel1? the kernels are: kernel1");
  EXPECT_THAT(findings, Each(Field(&finding::id, Ne(finding_id::missing_hook))));
}

TEST(SelectModules, TakesArchivesOfWhichNothingIsNeededIfTheyAreAllThereIs)
{
  EXPECT_THAT(selected_modules({archive_of("t.a", {{"a.o", definition("a")}}),
                                archive_of("u.a", {{"b.o", definition("b")}})}),
              ElementsAre("t.a(a.o)", "u.a(b.o)"));
}

TEST(SelectModules, TakesAMemberThatExplainsWhyANameIsMissing)
{
  for (auto const& [declarations, hint] :
       {std::pair{definition("_Z14user_transformf"), "_Z14user_transformf is its C++ name"},
        std::pair{definition("user_transform", ""),
                  "t.a(a.o) defines user_transform only for itself"},
        std::pair{definition("user_transfrom"), "did you mean user_transfrom?"}}) {
    std::vector const inputs{
        library(hook("user_transform") + ".func f () { call user_transform; }\n"),
        archive_of("t.a", {{"a.o", declarations}, {"b.o", definition("b")}})};
    auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.front().id, finding_id::missing_hook);
    EXPECT_THAT(findings.front().hint, StartsWith(hint));
  }
}

TEST(SelectModules, ReportsAnArchiveOfWhichNothingIsTaken)
{
  std::vector const inputs{library(hook("a")), ptx_module("a.ptx", definition("a")),
                           archive_of("t.a", {{"a.o", definition("a")}})};
  auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.back().id, finding_id::unused_input);
  EXPECT_EQ(findings.back().severity, severity::warning);
  EXPECT_THAT(findings.back().files, ElementsAre("t.a"));
  EXPECT_THAT(findings.back().message,
              StartsWith("t.a is not linked: its members define no missing symbol"));
}

TEST(SelectModules, ReadsNoInterfaceIfThereIsNoArchive)
{
  std::vector const inputs{library(hook("a")),
                           ptx_module("damaged.ptx", ".visible .func (.param) f () { }\n")};
  EXPECT_THROW((void)preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx}), file_error);
  EXPECT_EQ(select_modules(inputs, {.target = "sm_90", .mode = link_mode::ptx}).size(), 2U);
}

/// An archive of raw LTO-IR.
input ltoir_archive()
{
  ar_archive archive;
  auto const ltoir = fixtures::bytes("forms/transform.ltoir");
  archive.member("x.ltoir/",
                 std::string(reinterpret_cast<char const*>(ltoir.data()), ltoir.size()));
  return input::from_bytes(archive.bytes(), "t.a");
}

TEST(SelectModules, TakesOpaqueMembers)
{
  std::vector const inputs{library(hook("user_transform")), ltoir_archive()};
  auto const modules =
      select_modules(inputs, {.target = "sm_90", .mode = link_mode::lto, .allow_calls = true});
  ASSERT_EQ(modules.size(), 2U);
  EXPECT_EQ(modules.back().name(), "t.a(x.ltoir)");
}

TEST(SelectModules, TakesMembersWithLtoIrOnlyInEveryMode)
{
  std::vector const inputs{library(hook("user_transform")), ltoir_archive()};
  auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().id, finding_id::no_ptx);
  EXPECT_THAT(findings.front().files, ElementsAre("t.a(x.ltoir)"));
}
