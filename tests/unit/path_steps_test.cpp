// SPDX-License-Identifier: Apache-2.0
#include "live/watch/folder_events.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "fixtures.hpp"

using namespace fatlink::detail;
using testing::Contains;
using testing::Not;
namespace fs = std::filesystem;

namespace {

class PathSteps : public testing::Test {
 protected:
  [[nodiscard]] fs::path at(std::string const& name) const { return root_ / name; }
  [[nodiscard]] std::vector<path_step> to(std::string const& name) const
  {
    return steps_to(root_ / name);
  }

  fixtures::folder folder_;
  fs::path root_ = fs::canonical(folder_.path());
};

}  // namespace

TEST_F(PathSteps, AreTheFoldersFromTheRootAndTheFileItself)
{
  fs::create_directory(at("sub"));
  folder_.write("sub/a", "x");
  auto const steps = to("sub/./a");
  EXPECT_EQ(steps.front().folder, "/");
  EXPECT_THAT(steps, Contains(path_step{root_, "sub"}));
  EXPECT_THAT(steps, Contains(path_step{at("sub"), "a", true}));
  EXPECT_EQ(steps.back(), (path_step{at("sub/a"), "", true}));
}

TEST_F(PathSteps, EndAtTheFirstNameThatDoesNotExist)
{
  EXPECT_EQ(to("none/deep/a").back(), (path_step{root_, "none"}));
}

TEST_F(PathSteps, LeadThroughRelativeAndAbsoluteLinks)
{
  fs::create_directories(at("x/y"));
  folder_.write("x/y/a", "x");
  fs::create_symlink(at("x"), at("absolute"));
  fs::create_symlink("../absolute/y/a", at("x/relative"));
  auto const steps = to("x/relative");
  EXPECT_THAT(steps, Contains(path_step{at("x"), "relative", true}));
  EXPECT_THAT(steps, Contains(path_step{root_, "absolute"}));
  EXPECT_THAT(steps, Contains(path_step{at("x/y"), "a", true}));
  EXPECT_EQ(steps.back(), (path_step{at("x/y/a"), "", true}));
}

TEST_F(PathSteps, EndWithALoopOfLinks)
{
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  EXPECT_LE(to("a").size(), 100U);
}

TEST_F(PathSteps, OfAFolderDoNotFollowItsContent)
{
  fs::create_directory(at("sub"));
  EXPECT_EQ(to("sub").back(), (path_step{root_, "sub", true}));
}
