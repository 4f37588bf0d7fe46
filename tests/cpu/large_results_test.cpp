// SPDX-License-Identifier: Apache-2.0
// Results of the first link mode that wait in a file are checked as those in memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fatlink/linker.hpp"
#include "needs_nvjitlink.hpp"
#include "places.hpp"
#include "verification/execute.hpp"

namespace fatlink {
namespace {

constexpr std::size_t k_elements = (std::size_t{1} << 20) + 3;

class LargeResults : public testing::Test {
 protected:
  void SetUp() override
  {
    if (auto const why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
    if (char const* const value = std::getenv("TMPDIR")) folder_ = value;
  }
  void TearDown() override
  {
    if (folder_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", folder_.c_str(), 1);
  }

  [[nodiscard]] linked_image link(char const* transform, link_mode mode) const
  {
    return linker().link({fatbin::read(places::data("apply_transform.fatbin")),
                          fatbin::read(places::data(transform + std::string(".fatbin")))},
                         device_->link_options(mode));
  }

  /// The steps are kept in steps_.
  execution_report run(std::vector<linked_image> const& images)
  {
    auto const source = generated_elements(k_elements, 1);
    return execute(*device_, images, *source,
                   {.reference = reference::beside(places::data("relu_poly.fatbin")),
                    .progress = [&](char const* step, double) { steps_ += step; }});
  }

  std::shared_ptr<device> device_ = open_device("cpu");
  std::string steps_;
  std::string folder_;
};

TEST_F(LargeResults, OfBothModesAreVerifiedAndCompared)
{
  auto const report = run({link("relu_poly", link_mode::ptx), link("relu_poly", link_mode::lto)});
  for (auto const& image : report.images) {
    EXPECT_TRUE(image.against_reference.verified());
    EXPECT_EQ(image.against_reference.elements, k_elements);
  }
  EXPECT_TRUE(report.between->verified());
  EXPECT_EQ(report.between->elements, k_elements);
  EXPECT_NE(steps_.find("saving"), std::string::npos);
}

TEST_F(LargeResults, OfEachModeKeepTheirOwnFailures)
{
  auto const report = run({link("identity", link_mode::ptx), link("relu_poly", link_mode::ptx)});
  EXPECT_FALSE(report.images[0].against_reference.verified());
  EXPECT_TRUE(report.images[1].against_reference.verified());
  EXPECT_EQ(report.between->failures, report.images[0].against_reference.failures);
}

TEST_F(LargeResults, StayInMemoryWhereThereIsNoFolderForFiles)
{
  ::setenv("TMPDIR", "/nonexistent", 1);
  auto const report = run({link("relu_poly", link_mode::ptx), link("relu_poly", link_mode::lto)});
  EXPECT_TRUE(report.images[0].against_reference.verified());
  EXPECT_TRUE(report.between->verified());
}

}  // namespace
}  // namespace fatlink
