// SPDX-License-Identifier: Apache-2.0
// Targets, images and other values of enumerations: their names, and what is refused.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fatlink/catalogue.hpp"
#include "fatlink/device.hpp"
#include "fatlink/image.hpp"
#include "fatlink/input.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/target.hpp"
#include "fixtures.hpp"

using namespace fatlink;
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

TEST(Image, WithoutHooksHasInlinedNothing)
{
  EXPECT_FALSE(linked_image{}.inlined());
}

// Values from outside of the enumerations, and targets that were never checked.

TEST(Enumeration, HasNoNameOutside)
{
  for (auto const value : {99, -1, 1 << 30}) {
    EXPECT_STREQ(to_string(static_cast<input_form>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<link_mode>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<image_kind>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<device_kind>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<severity>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<stage>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<error_code>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<finding_id>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<cache_outcome>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<folder_origin>(value)), "unknown");
    EXPECT_STREQ(to_string(static_cast<fatbin_role>(value)), "unknown");
  }
}

TEST(Enumeration, OfLinkModesIsCheckedByPreflight)
{
  auto const inputs = fixtures::library_and_transform();
  for (auto const value : {7, -1})
    expect_error<usage_error>(
        [&] {
          (void)preflight(inputs, {.target = "sm_90", .mode = static_cast<link_mode>(value)});
        },
        "no such mode");
}

TEST(UncheckedTarget, IsRefusedByPreflightAndByTheLinker)
{
  auto const inputs = fixtures::library_and_transform();
  for (auto const wanted :
       {target(1), target(90, 'x'), target(75, 'a'), target(70), target(91), target(~0U)}) {
    expect_error<usage_error>([&] { (void)preflight(inputs, {.target = wanted}); }, "target 'sm_");
    for (auto const where : {isolation::in_process, isolation::helper})
      expect_error<usage_error>(
          [&] { (void)linker({.isolation = where}).link(inputs, {.target = wanted}); },
          "target 'sm_");
  }
}

TEST(UncheckedTarget, OfANullNameIsRefused)
{
  char const* const none = nullptr;
  expect_error<usage_error>([&] { (void)target(none); }, "not a target");
}

TEST(Enumeration, OfIsolationIsCheckedByTheLinker)
{
  expect_error<usage_error>([] { linker({.isolation = static_cast<isolation>(7)}); }, "isolation");
}
