// SPDX-License-Identifier: Apache-2.0
// Installed fatbins: libraries for a transform, checks against them, and how a name is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "catalogue/installed_library.hpp"
#include "environment.hpp"
#include "expect_error.hpp"
#include "fatlink/fatbin.hpp"
#include "fixtures.hpp"
#include "places.hpp"

using namespace fatlink;
using fixtures::finding_ids;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The libraries of a folder into which fixtures are copied, with digests, under other names.
std::vector<installed_library> install(
    std::initializer_list<std::pair<char const*, char const*>> files)
{
  fixtures::folder const folder;
  for (auto const& [fixture, name] : files)
    if (std::string_view(fixture).ends_with(".fatbin"))
      folder.write(name, fixtures::to_text(fixtures::verified(fixture).bytes()));
    else
      std::filesystem::copy_file(fixtures::path(fixture), folder.path() / name);
  return read_libraries({{folder.path(), folder_origin::environment}});
}

std::vector<std::string> library_names(std::vector<installed_library> const& libraries)
{
  std::vector<std::string> all;
  for (auto const& library : libraries) all.push_back(library.name);
  return all;
}

std::vector<std::string> selected(std::vector<installed_library> const& libraries,
                                  char const* transform)
{
  std::array const inputs{fixtures::verified(transform)};
  return library_names(select_libraries(libraries, inputs));
}

}  // namespace

TEST(InstalledLibraries, AreTheReadableFatbinsWithKernelsAndHooks)
{
  EXPECT_THAT(library_names(install({{"library.fatbin", "b.fatbin"},
                                     {"library.fatbin", "a.fatbin"},
                                     {"transform.fatbin", "transform.fatbin"},
                                     {"stratified.py", "damaged.fatbin"},
                                     {"library.fatbin", "other.txt"}})),
              ElementsAre("a", "b"));
  EXPECT_THAT(install({}), IsEmpty());
}

TEST(InstalledLibraries, AreSelectedByContractOrByTheHooksThatATransformDefines)
{
  auto const libraries = install({{"library.fatbin", "a.fatbin"}});
  EXPECT_THAT(selected(libraries, "transform.fatbin"), ElementsAre("a"));
  EXPECT_THAT(selected(libraries, "uncontracted.fatbin"), ElementsAre("a"));
  EXPECT_THAT(selected({}, "transform.fatbin"), IsEmpty());
}

TEST(TransformCheck, KnowsInputsWithoutALibrary)
{
  EXPECT_TRUE(lacks_library(std::array{fixtures::verified("transform.fatbin")}));
  EXPECT_FALSE(lacks_library(std::array{fixtures::verified("library.fatbin")}));
  EXPECT_FALSE(lacks_library(
      std::array{fixtures::verified("transform.fatbin"), fixtures::verified("library.fatbin")}));
}

TEST(TransformCheck, FindsNothingToReportWithTheLibraryOfTheContract)
{
  auto const libraries = install({{"library.fatbin", "a.fatbin"}});
  std::array<input, 1> const transforms{fixtures::verified("transform.fatbin")};
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    EXPECT_THAT(preflight_with(libraries[0], transforms, {"sm_90", mode, {}}), IsEmpty());
}

TEST(TransformCheck, IsAnErrorWithoutALibraryToJudgeWith)
{
  std::array<input, 1> const contracted{fixtures::verified("transform.fatbin")};
  EXPECT_THAT(finding_ids(preflight_without({}, contracted, {"sm_90", link_mode::lto, {}})),
              ElementsAre("not-judged"));
  std::array<input, 1> const uncontracted{fixtures::verified("uncontracted.fatbin")};
  EXPECT_THAT(finding_ids(preflight_without({}, uncontracted, {"sm_90", link_mode::lto, {}})),
              ElementsAre("unused-definition", "uncontracted"));
}

namespace {

class FindFatbin : public testing::Test {
 protected:
  fixtures::variable search_{"FATLINK_PATH", places::tests() / "fixtures"};
};

}  // namespace

TEST_F(FindFatbin, ByName)
{
  EXPECT_EQ(fatbin::find("transform").name(), places::fixture("transform.fatbin"));
}

TEST_F(FindFatbin, ByFile)
{
  auto const file = places::fixture("transform.fatbin");
  EXPECT_EQ(fatbin::find(file).name(), file);
}

TEST_F(FindFatbin, ATypingErrorNamesASimilarFatbin)
{
  try {
    (void)fatbin::find("tranform");
    ADD_FAILURE() << "found";
  } catch (file_error const& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr("tranform: no fatbin of that name"));
    EXPECT_THAT(failure.details().hint, testing::HasSubstr("did you mean transform?"));
    EXPECT_THAT(failure.details().log, testing::HasSubstr(places::tests() / "fixtures"));
  }
}

TEST_F(FindFatbin, AMissingFileIsNamed)
{
  expect_error<file_error>([] { (void)fatbin::find("./absent.fatbin"); }, "./absent.fatbin");
}
