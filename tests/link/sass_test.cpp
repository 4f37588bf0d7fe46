// SPDX-License-Identifier: Apache-2.0
// Links of SASS, and of inputs that stand beside LTO-IR or PTX as real calls.
#include <gmock/gmock.h>

#include "expect_error.hpp"
#include "fatlink/device.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fixtures.hpp"
#include "linker/image_functions.hpp"
#include "needs_nvjitlink.hpp"

using namespace fatlink;
using fixtures::input_file;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

linked_image link_files(std::vector<std::string> const& names, link_options const& options)
{
  std::vector<input> inputs;
  for (auto const& name : names) inputs.push_back(input_file(name));
  return linker({.isolation = isolation::in_process}).link(inputs, options);
}

link_options sass(target link_target = "sm_90")
{
  return {.target = link_target, .mode = link_mode::sass};
}

link_options with_calls(link_mode mode)
{
  return {.target = "sm_90", .mode = mode, .allow_calls = true};
}

/// The ids of the findings that refuse the link.
std::vector<std::string> refusals(std::vector<std::string> const& names,
                                  link_options const& options)
{
  std::vector<std::string> ids;
  try {
    (void)link_files(names, options);
  } catch (refused_error const& refused) {
    for (auto const& finding : refused.findings())
      if (finding.severity == severity::error) ids.emplace_back(to_string(finding.id));
  }
  return ids;
}

class Sass : public fixtures::needs_nvjitlink {};
class AllowedCalls : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(Sass, LinksCubinsWithSassEntriesForTheTarget)
{
  auto const image = link_files({"library_sass.fatbin", "forms/relocatable.cubin"}, sass());
  EXPECT_EQ(image.mode, link_mode::sass);
  ASSERT_EQ(image.hooks.size(), 1U);
  EXPECT_EQ(image.hooks[0].name, "user_transform");
  EXPECT_FALSE(image.hooks[0].inlined);
  EXPECT_THAT(detail::functions_in(image), Contains("apply_transform"));
}

TEST_F(Sass, OfUnknownIntegrityIsReportedByTheLink)
{
  auto const image = link_files({"library_sass.fatbin", "forms/relocatable.cubin"}, sass());
  EXPECT_THAT(image.warnings, Contains(HasSubstr("forms/relocatable.cubin states no digest")));
}

TEST_F(Sass, OfAnotherTypeIsRefused)
{
  EXPECT_THAT(refusals({"library_sass.fatbin", "two_types_sass.fatbin"}, sass()),
              ElementsAre("signature-mismatch"));
}

TEST_F(Sass, ForAnotherTargetIsRefused)
{
  for (auto const* name : {"sm_80", "sm_90a", "sm_100"})
    EXPECT_THAT(refusals({"library_sass.fatbin", "forms/relocatable.cubin"}, sass(name)),
                ElementsAre("arch-specific", "arch-specific"))
        << name;
}

TEST_F(Sass, IsMissingInPtxAndLtoIr)
{
  EXPECT_THAT(refusals({"library.fatbin", "forms/relocatable.cubin"}, sass()), Contains("no-sass"));
}

TEST_F(Sass, OfWholeProgramsIsRefused)
{
  EXPECT_THAT(refusals({"forms/whole_program.cubin"}, sass()), Contains("not-relocatable"));
}

TEST_F(Sass, EmitsOnlyCubins)
{
  auto options = sass();
  options.emit = image_kind::ptx;
  expect_error<usage_error>([&] { (void)link_files({"library_sass.fatbin"}, options); },
                            "ptx cannot be emitted in sass mode");
}

TEST_F(Sass, DoesNotRunOnTheReferenceDevice)
{
  try {
    (void)link_files({"forms/relocatable.cubin"},
                     {.target = "sm_90", .mode = link_mode::ptx, .emit = image_kind::ptx_set});
    FAIL() << "linked";
  } catch (unavailable_error const& refused) {
    EXPECT_EQ(refused.details().code, error_code::needs_gpu);
    EXPECT_THAT(refused.what(), HasSubstr("forms/relocatable.cubin holds SASS only"));
  }
}

TEST_F(Sass, LinkedForTheReferenceDeviceIsRefusedForItsForm)
{
  linked_image image;
  image.mode = link_mode::sass;
  try {
    (void)open_device("cpu")->load(image);
    FAIL() << "loaded";
  } catch (unavailable_error const& refused) {
    EXPECT_EQ(refused.details().code, error_code::needs_gpu);
    EXPECT_THAT(refused.what(), HasSubstr("runs PTX, not SASS, which a sass link makes"));
    EXPECT_EQ(refused.details().hint, "load it on a GPU, or link in another mode: link_mode::lto");
  }
}

TEST_F(AllowedCalls, LetPtxStandBesideLtoIr)
{
  std::vector<std::string> const names{"library.fatbin", "forms/transform.ptx"};
  EXPECT_THAT(refusals(names, {.target = "sm_90", .mode = link_mode::lto}),
              ElementsAre("no-ltoir"));
  auto const image = link_files(names, with_calls(link_mode::lto));
  ASSERT_EQ(image.hooks.size(), 1U);
  EXPECT_FALSE(image.hooks[0].inlined);
}

TEST_F(AllowedCalls, LetSassStandBesideLtoIrAndPtx)
{
  for (auto const mode : {link_mode::lto, link_mode::ptx}) {
    std::vector<std::string> const names{"library.fatbin", "forms/relocatable.cubin"};
    EXPECT_FALSE(refusals(names, {.target = "sm_90", .mode = mode}).empty());
    auto const image = link_files(names, with_calls(mode));
    ASSERT_EQ(image.hooks.size(), 1U);
    EXPECT_FALSE(image.hooks[0].inlined);
  }
}

TEST_F(AllowedCalls, RefuseSassOfAnotherType)
{
  for (auto const mode : {link_mode::lto, link_mode::ptx})
    EXPECT_THAT(refusals({"library.fatbin", "forms/double.cubin"}, with_calls(mode)),
                ElementsAre("signature-mismatch"));
}

TEST_F(AllowedCalls, PreferTheModesOwnKind)
{
  auto const calls = link_files({"library.fatbin", "transform.fatbin"}, with_calls(link_mode::lto));
  auto const plain = link_files({"library.fatbin", "transform.fatbin"},
                                {.target = "sm_90", .mode = link_mode::lto});
  EXPECT_TRUE(calls.inlined());
  EXPECT_EQ(calls.bytes, plain.bytes);
}
