// SPDX-License-Identifier: Apache-2.0
// Real nvJitLink, no GPU.
#include "fatlink/linker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "ar_archive.hpp"
#include "captured_stderr.hpp"
#include "expect_error.hpp"
#include "fixtures.hpp"
#include "linker/image_functions.hpp"
#include "needs_nvjitlink.hpp"
#include "toolkit/link_in_process.hpp"

using namespace fatlink;
using fixtures::library_and_transform;

namespace {

link_options options_for(char const* wanted, link_mode mode)
{
  return {.target = wanted, .mode = mode, .emit = image_kind::cubin};
}

/// The entries that a link of `mode` for sm_90 takes of `inputs`.
std::vector<detail::link_input> entries_of(std::vector<fatbin> const& inputs, link_mode mode)
{
  std::vector<detail::link_input> list;
  for (auto const& input : inputs)
    list.push_back(detail::link_input::write(input, *linked_entry(input, {"sm_90", mode})));
  return list;
}

/// A library whose archive has PTX that cannot be read: archives are searched before preflight.
std::vector<input> damaged_archive()
{
  fixtures::ar_archive archive;
  archive.member(
      "a.o/", ".version 8.0\n.target sm_75\n.address_size 64\n.visible .func (.param) f () { }\n");
  return {fixtures::fatbin("library.fatbin"), input::from_bytes(archive.bytes(), "t.a")};
}

class Linker : public fixtures::needs_nvjitlink {};
class LinkSession : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(Linker, MakesTheSameBytesEveryTime)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    EXPECT_EQ(linker().link(library_and_transform(), options_for("sm_90", mode)).bytes,
              linker().link(library_and_transform(), options_for("sm_90", mode)).bytes);
}

TEST_F(Linker, ReadsInliningFromTheImage)
{
  EXPECT_FALSE(
      linker().link(library_and_transform(), options_for("sm_90", link_mode::ptx)).inlined());
  auto const lto = linker().link(library_and_transform(), options_for("sm_90", link_mode::lto));
  EXPECT_TRUE(lto.inlined());
  EXPECT_EQ(detail::functions_in_cubin(lto.bytes), std::vector<std::string>{"apply_transform"});
}

TEST_F(Linker, LinksFromSeveralThreadsAtOnce)
{
  linker with;
  auto const expected =
      with.link(library_and_transform(), options_for("sm_90", link_mode::lto)).bytes;
  std::vector<int> same(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : same)
      threads.emplace_back([&] {
        result = with.link(library_and_transform(), options_for("sm_90", link_mode::lto)).bytes ==
                 expected;
      });
  }
  EXPECT_EQ(same, (std::vector<int>{1, 1, 1, 1}));
}

TEST(UnopenedLinker, RefusesBeforeNvjitlinkSeesTheInputs)
{
  expect_error<refused_error>(
      [] {
        linker().link({fixtures::fatbin("library.fatbin")}, options_for("sm_90", link_mode::lto));
      },
      "cannot link for sm_90: library.fatbin calls (b32) user_transform(b32), which is defined by "
      "no "
      "input [missing-hook]");
}

TEST_F(LinkSession, FailsOnWhatNvjitlinkOnlyPrints)
{
  // Two definitions in PTX mode: nvJitLink answers success and an @E@ line on standard error. (When
  // it takes the link from the driver's cache it says nothing.)
  auto inputs = library_and_transform();
  inputs.push_back(fixtures::fatbin("uncontracted.fatbin"));
  fixtures::captured_stderr output;
  try {
    detail::link_in_process(*nvjitlink::open(), entries_of(inputs, link_mode::ptx),
                            {"-arch=sm_90", "-no-cache"}, image_kind::cubin,
                            [&] { return output.read(); });
    ADD_FAILURE() << "linked";
  } catch (link_error const& failed) {
    EXPECT_THAT(failed.details().log, testing::HasSubstr("@E@"));
    EXPECT_FALSE(failed.details().hint.empty());
  }
}

TEST_F(LinkSession, NamesTheInputThatNvjitlinkRefuses)
{
  try {
    auto const specific = fixtures::fatbin("specific.fatbin");
    detail::link_in_process(*nvjitlink::open(),
                            {detail::link_input::write(specific, specific.entries()[1])},
                            {"-arch=sm_80", "-lto"}, image_kind::cubin);
    ADD_FAILURE() << "linked";
  } catch (link_error const& failed) {
    EXPECT_THAT(failed.what(), testing::HasSubstr("specific.fatbin"));
    EXPECT_EQ(failed.details().code, "NVJITLINK_ERROR_INVALID_INPUT");
  }
}

TEST_F(LinkSession, CarriesTheLogOfAFailedCreate)
{
  try {
    detail::link_in_process(*nvjitlink::open(), entries_of(library_and_transform(), link_mode::lto),
                            {"-arch=sm_90", "-nonsense"}, image_kind::cubin);
    ADD_FAILURE() << "linked";
  } catch (link_error const& failed) {
    EXPECT_EQ(failed.details().code, "NVJITLINK_ERROR_UNRECOGNIZED_OPTION");
    EXPECT_THAT(failed.details().log, testing::HasSubstr("nonsense"));
  }
}

TEST(LinkerArguments, AreCheckedBeforeAnythingElse)
{
  expect_error<usage_error>(
      [] { (void)linker().link(std::vector<input>{}, options_for("sm_90", link_mode::lto)); },
      "no inputs: there is nothing to link");
  auto wrong = options_for("sm_90", static_cast<link_mode>(7));
  expect_error<usage_error>([&] { (void)linker().link(library_and_transform(), wrong); },
                            "link_mode has no value 7");
  wrong = options_for("sm_90", link_mode::lto);
  wrong.emit = static_cast<image_kind>(9);
  expect_error<usage_error>([&] { (void)linker().link(library_and_transform(), wrong); },
                            "image_kind has no value 9");
  expect_error<usage_error>([&] { (void)linker({.isolation = static_cast<isolation>(5)}); },
                            "isolation has no value 5");
}

TEST(LinkerArguments, ThatWereMovedFromAreUsageErrors)
{
  linker first;
  auto const second = std::move(first);
  expect_error<usage_error>(
      [&] { (void)first.link(library_and_transform(), options_for("sm_90", link_mode::lto)); },
      "the linker was moved from");
  auto inputs = library_and_transform();
  auto const taken = std::move(inputs[0]);
  expect_error<usage_error>(
      [&] { (void)linker().link(inputs, options_for("sm_90", link_mode::lto)); },
      "an input was moved from");
}

TEST(LinkerArguments, AreCheckedBeforeTheInputsAreSearched)
{
  auto const lto = options_for("sm_90", link_mode::lto);
  auto const inputs = damaged_archive();
  EXPECT_THROW((void)linker().link(inputs, lto), file_error);
  auto wrong = options_for("sm_90", link_mode::ptx);
  wrong.emit = image_kind::ptx;
  for (auto const& call : std::vector<std::function<void()>>{
           [&] { (void)linker().link(inputs, wrong); },
           [&] { (void)linker().link_into("/nowhere", inputs, wrong); }})
    expect_error<usage_error>(call, "ptx cannot be emitted in ptx mode");
  wrong = lto;
  wrong.max_registers = 7;
  expect_error<usage_error>([&] { (void)linker().link(inputs, wrong); },
                            "max_registers: 7 is not a number from 24 to 255");
}

TEST(LinkerArguments, OfLayersAreCheckedBeforeTheInputsAreSearched)
{
  auto set = options_for("sm_90", link_mode::ptx);
  set.emit = image_kind::ptx_set;
  expect_error<usage_error>([&] { (void)linker().link_into("/nowhere", damaged_archive(), set); },
                            "a cache layer holds cubins and PTX, not ptx_set");
}

TEST(LinkerArguments, AreNotReadByALinkerThatWasMovedFrom)
{
  linker first;
  auto const second = std::move(first);
  auto const inputs = damaged_archive();
  auto const lto = options_for("sm_90", link_mode::lto);
  expect_error<usage_error>([&] { (void)first.link(inputs, lto); }, "the linker was moved from");
  expect_error<usage_error>([&] { (void)first.link_into("/nowhere", inputs, lto); },
                            "the linker was moved from");
}

TEST(LinkerArguments, TimeLimitsMustBeAboveZero)
{
  for (auto const limit : {std::chrono::milliseconds(0), std::chrono::milliseconds(-5),
                           std::chrono::milliseconds::min()})
    expect_error<usage_error>([&] { (void)linker({.time_limit = limit}); }, "a time limit of ");
}

class LinkerSettings : public fixtures::needs_nvjitlink {};

TEST_F(LinkerSettings, NameTheNvjitlinkThatLinks)
{
  fixtures::folder const folder;
  auto const link = folder.path() / "libnvJitLink.so.13";
  std::filesystem::create_symlink(nvjitlink::open()->path(), link);
  for (auto const where : {isolation::in_process, isolation::helper}) {
    linker work({.isolation = where, .nvjitlink = link});
    EXPECT_EQ(work.link(library_and_transform(), options_for("sm_90", link_mode::lto)).bytes,
              linker().link(library_and_transform(), options_for("sm_90", link_mode::lto)).bytes);
  }
}

TEST_F(LinkerSettings, UseNoOtherNvjitlinkThanTheNamedOne)
{
  for (auto const where : {isolation::in_process, isolation::helper}) {
    linker work({.isolation = where, .nvjitlink = "/nowhere/libnvJitLink.so.13"});
    expect_error<unavailable_error>(
        [&] { (void)work.link(library_and_transform(), options_for("sm_90", link_mode::lto)); },
        "/nowhere/libnvJitLink.so.13 (from ");
  }
}
