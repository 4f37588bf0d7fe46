// SPDX-License-Identifier: Apache-2.0
// Values from outside of the enumerations, and targets that were never checked.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fatlink/catalogue.hpp"
#include "fatlink/device.hpp"
#include "fatlink/input.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"

using namespace fatlink;

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
