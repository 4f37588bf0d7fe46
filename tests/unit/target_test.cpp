// SPDX-License-Identifier: Apache-2.0
#include "fatlink/target.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"

using fatlink::target;

TEST(Target, ReadsWhatNvccWrites)
{
  for (auto const* name : {"sm_75", "sm_90", "sm_90a", "sm_100f", "sm_121", "sm_107f", "sm_130a"})
    EXPECT_EQ(target(name).name(), name);
}

TEST(Target, RefusesOtherSpellings)
{
  for (auto const* text :
       {"", "90", "compute_90", "sm_", "sm_x", "sm_90x", "sm_90aa", "SM_90", "sm_-90"})
    expect_error<fatlink::usage_error>([&] { (void)target(text); }, "not a target");
}

TEST(Target, RefusesWhatNvjitlinkWouldExitOn)
{
  for (auto const* text : {"sm_1", "sm_2", "sm_5", "sm_9", "sm_70"})
    expect_error<fatlink::usage_error>([&] { (void)target(text); }, "older than CUDA 13 supports");
  expect_error<fatlink::usage_error>([] { (void)target("sm_83"); }, "no such architecture");
}

TEST(Target, RunsCubinsOfOlderMinorVersionsButNotThoseOfTegra)
{
  auto const names = [](target const& architecture) {
    std::string text;
    for (auto const& older : architecture.compatible_targets()) text += older.name() + ' ';
    return text;
  };
  EXPECT_EQ(names("sm_75"), "sm_75 ");
  EXPECT_EQ(names("sm_86"), "sm_86 sm_80 ");
  EXPECT_EQ(names("sm_87"), "sm_87 ");
  EXPECT_EQ(names("sm_89"), "sm_89 sm_86 sm_80 ");
  EXPECT_EQ(names("sm_90a"), "sm_90a ");
  EXPECT_EQ(names("sm_103"), "sm_103 sm_100 ");
  EXPECT_EQ(names("sm_110"), "sm_110 ");
  EXPECT_EQ(names("sm_121"), "sm_121 sm_120 ");
}

TEST(Target, ThatIsNotSetSaysSo)
{
  expect_error<fatlink::usage_error>([] { fatlink::check_target({}); }, "no target is set");
}

TEST(Target, RefusesFeatureSuffixesTheArchitectureLacks)
{
  expect_error<fatlink::usage_error>([] { (void)target("sm_80a"); }, "architecture-specific");
  expect_error<fatlink::usage_error>([] { (void)target("sm_90f"); }, "family-specific");
}

TEST(Target, GenericCodeLinksForItsOwnAndEveryNewerTarget)
{
  EXPECT_TRUE(target("sm_75").links_for("sm_75"));
  EXPECT_TRUE(target("sm_75").links_for("sm_90a"));
  EXPECT_TRUE(target("sm_75").links_for("sm_121"));
  EXPECT_FALSE(target("sm_90").links_for("sm_80"));
}

TEST(Target, SpecificCodeLinksForExactlyItsTarget)
{
  EXPECT_TRUE(target("sm_90a").links_for("sm_90a"));
  EXPECT_FALSE(target("sm_90a").links_for("sm_90"));
  EXPECT_FALSE(target("sm_90a").links_for("sm_100a"));
}

TEST(Target, FamilyCodeLinksWithinItsFamily)
{
  EXPECT_TRUE(target("sm_100f").links_for("sm_103"));
  EXPECT_FALSE(target("sm_103f").links_for("sm_100"));
  EXPECT_FALSE(target("sm_100f").links_for("sm_120"));
}

TEST(Target, ListsEveryTargetOfCuda13Once)
{
  std::string names;
  for (auto const& known : fatlink::known_targets()) names += known.name() + " ";
  EXPECT_EQ(names,
            "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a "
            "sm_110 sm_110a sm_120 sm_120a sm_121 sm_121a ");
}

TEST(Target, KnowsWhichArchitecturesNvjitlinkTakes)
{
  for (auto const number : {20U, 21U, 50U, 61U, 70U, 72U, 75U, 82U, 86U, 90U, 101U, 107U, 121U})
    EXPECT_TRUE(target(number).is_known()) << number;
  for (auto const number : {10U, 13U, 73U, 74U, 76U, 83U, 91U, 102U, 130U})
    EXPECT_FALSE(target(number).is_known()) << number;
  EXPECT_TRUE(target(90, 'a').is_known());
  EXPECT_TRUE(target(100, 'f').is_known());
  EXPECT_FALSE(target(75, 'a').is_known());
  EXPECT_FALSE(target(90, 'f').is_known());
}

TEST(Target, KnowsTheFirstCudaThatHasIt)
{
  EXPECT_EQ(target("sm_75").first_cuda_minor(), 0U);
  EXPECT_EQ(target("sm_121a").first_cuda_minor(), 0U);
  EXPECT_EQ(target("sm_107").first_cuda_minor(), 4U);
  EXPECT_EQ(target("sm_107f").first_cuda_minor(), 4U);
  EXPECT_EQ(target("sm_130").first_cuda_minor(), 6U);
}

TEST(LinkMode, KnowsTwoModes)
{
  EXPECT_EQ(fatlink::parse_link_mode("lto"), fatlink::link_mode::lto);
  expect_error<fatlink::usage_error>([] { (void)fatlink::parse_link_mode("fast"); },
                                     "link mode 'fast'");
}
