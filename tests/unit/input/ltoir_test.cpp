// SPDX-License-Identifier: Apache-2.0
// Raw LTO-IR and its version, and the names of modules.
#include <gtest/gtest.h>

#include "form_inputs.hpp"
#include "input/input_forms.hpp"
#include "input/ltoir.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using fatlink::detail::module_name;
using fatlink::detail::name_member;
using fatlink::detail::parse_module_name;
using fixtures::form_bytes;
using fixtures::with_value;

namespace {

std::string version(ltoir_version const& stated)
{
  return std::to_string(stated.major) + "." + std::to_string(stated.minor);
}

void expect_corrupt_ltoir(byte_buffer const& bytes, std::string const& says)
{
  expect_refused([&] { (void)read_ltoir_header(bytes, "t.ltoir"); }, error_code::corrupt_ltoir,
                 says);
}

std::uint16_t const k_other_value = 7;

}  // namespace

TEST(Ltoir, StatesVersionsAndTargetOfEveryCompiler)
{
  for (auto const* name :
       {"transform.ltoir", "nvrtc.ltoir", "libnvvm.ltoir", "numba.ltoir", "cuda_core.ltoir"}) {
    auto const bytes = form_bytes(name);
    auto const header = read_ltoir_header(bytes, name);
    EXPECT_EQ(version(header.container), "1.65") << name;
    EXPECT_EQ(version(header.ir), "2.98") << name;
    EXPECT_EQ(version(header.debug_metadata), "3.2") << name;
    EXPECT_EQ(header.target, target("sm_75")) << name;
    EXPECT_TRUE(is_ltoir(bytes)) << name;
  }
}

TEST(Ltoir, StatesVersionsOfEveryCompilerOfCuda135)
{
  for (auto const* name :
       {"nvrtc_13.5.ltoir", "libnvvm_13.5.ltoir", "numba_13.5.ltoir", "cuda_core_13.5.ltoir"}) {
    auto const header = read_ltoir_header(form_bytes(name), name);
    EXPECT_EQ(version(header.container), "1.67") << name;
    EXPECT_EQ(version(header.ir), "2.131") << name;
    EXPECT_EQ(version(header.debug_metadata), "3.2") << name;
    EXPECT_EQ(header.target, target("sm_75")) << name;
  }
}

TEST(Ltoir, StatesThatItIsArchitectureSpecific)
{
  EXPECT_EQ(read_ltoir_header(form_bytes("specific.ltoir"), "t").target, target("sm_90a"));
}

TEST(Ltoir, IsRecognizedByItsMagic)
{
  EXPECT_FALSE(is_ltoir({}));
  EXPECT_FALSE(is_ltoir(bytes_view(form_bytes("nvrtc.ltoir")).first(3)));
  EXPECT_FALSE(is_ltoir(form_bytes("transform.ptx")));
}

TEST(Ltoir, ReadsNewerMinorVersionsAndUnknownFields)
{
  auto bytes = with_value(form_bytes("transform.ltoir"), 0x05, std::uint8_t{70});
  bytes = with_value(bytes, 0x1C, k_other_value);
  EXPECT_EQ(version(read_ltoir_header(bytes, "t").container), "1.70");
}

TEST(Ltoir, MayBeWhatNvjitlinkMerged)
{
  auto const merged = with_value(form_bytes("transform.ltoir"), 0x0E, std::uint16_t{0});
  EXPECT_EQ(read_ltoir_header(merged, "t").target, target("sm_75"));
}

TEST(Ltoir, OfANewerContainerIsNotCalledDamaged)
{
  try {
    (void)read_ltoir_header(with_value(form_bytes("transform.ltoir"), 0x04, std::uint8_t{2}), "t");
    ADD_FAILURE() << "no error";
  } catch (format_error const& failed) {
    EXPECT_TRUE(failed.details().code == error_code::newer_format) << failed.what();
  }
}

TEST(Ltoir, RefusesAnUnknownBeginning)
{
  auto const good = form_bytes("transform.ltoir");
  expect_corrupt_ltoir(with_value(good, 0, k_other_value),
                       "does not begin with the magic number of LTO-IR");
  expect_corrupt_ltoir(with_value(good, 0x0C, k_other_value),
                       "LTO-IR header of 7 bytes is not known, at byte 12");
  expect_corrupt_ltoir(with_value(good, 0x0E, k_other_value),
                       "NVVM IR of level 7, not for link-time optimisation");
}

TEST(Ltoir, RefusesEndsThatContradictEachOther)
{
  auto const good = form_bytes("transform.ltoir");
  expect_corrupt_ltoir(with_value(good, 0x10, std::uint32_t{0x18}),
                       "end inside a field, at byte 16");
  expect_corrupt_ltoir(with_value(good, 0x10, std::uint32_t{0x2A}),
                       "end inside a field, at byte 16");
  for (std::uint32_t const end : {0x28U, 0x24U, 0x30U, ~0U})
    expect_corrupt_ltoir(with_value(good, 0x14, end),
                         "the key of the LTO-IR header has an unknown size");
  auto beyond = with_value(good, 0x10, std::uint32_t{0x10000});
  expect_corrupt_ltoir(with_value(beyond, 0x14, std::uint32_t{0x10004}), "truncated");
}

TEST(Ltoir, RefusesMalformedFields)
{
  auto const good = form_bytes("transform.ltoir");
  expect_corrupt_ltoir(with_value(good, 0x18, std::uint16_t{0}),
                       "the fields of the LTO-IR header end early");
  expect_corrupt_ltoir(with_value(good, 0x24, k_other_value),
                       "the fields of the LTO-IR header do not end with 0");
  expect_corrupt_ltoir(with_value(good, 0x18, k_other_value),
                       "the LTO-IR header states no architecture");
  for (auto const architecture : std::vector<std::uint16_t>{0, 90, 755, 10000, 65535})
    expect_corrupt_ltoir(with_value(good, 0x1A, architecture),
                         "architecture " + std::to_string(architecture));
}

TEST(Ltoir, RefusesEveryTruncationOfTheHeaderAndThoseInsideAWordOfThePayload)
{
  auto const good = form_bytes("transform.ltoir");
  for (std::size_t size = 0; size < good.size(); ++size) {
    auto const part = bytes_view(good).first(size);
    if (size <= 0x2C || size % 4 != 0)
      EXPECT_THROW(read_ltoir_header(part, "t"), format_error) << size;
    else
      EXPECT_NO_THROW(read_ltoir_header(part, "t")) << size;
  }
}

namespace {

void expect_parts(char const* name, module_name const& parts)
{
  auto const result = parse_module_name(name);
  EXPECT_EQ(result.file, parts.file) << name;
  EXPECT_EQ(result.member, parts.member) << name;
  EXPECT_EQ(result.count, parts.count) << name;
}

}  // namespace

TEST(ModuleName, OfAFileIsTheFile)
{
  for (auto const* name : {"", "x.ptx", "a/b.cubin", "x (copy).ptx"})
    expect_parts(name, {.file = name});
}

TEST(ModuleName, OfATranslationUnitHasTheFileOfItsObject)
{
  expect_parts("r.o[1]", {.file = "r.o"});
  expect_parts("r.o[12]", {.file = "r.o"});
  expect_parts("a[1].o[2]", {.file = "a[1].o"});
}

TEST(ModuleName, OfAMemberHasTheArchiveAndTheMember)
{
  expect_parts("lib.a(b.o)", {.file = "lib.a", .member = "b.o"});
  expect_parts("lib.a(b.o)[2]", {.file = "lib.a", .member = "b.o"});
  expect_parts("lib.a(b(1).o)", {.file = "lib.a", .member = "b(1).o"});
  expect_parts("my(lib).a(b.o)", {.file = "my(lib).a", .member = "b.o"});
}

TEST(ModuleName, OfOneOfSeveralMembersOfANameHasItsCount)
{
  expect_parts("lib.a(b.o#2)", {.file = "lib.a", .member = "b.o", .count = "2"});
  expect_parts("lib.a(b.o#10)[3]", {.file = "lib.a", .member = "b.o", .count = "10"});
  expect_parts("lib.a(b#1.o#2)", {.file = "lib.a", .member = "b#1.o", .count = "2"});
}

TEST(ModuleName, HasNoUnitAndNoCountWithoutDigits)
{
  for (auto const* name : {"r.o[]", "r.o[x]", "r.o[1x]", "r.o]", "1]"})
    expect_parts(name, {.file = name});
  for (auto const* member : {"b.o#", "b.o#x", "b.o#2x"})
    expect_parts(("lib.a(" + std::string(member) + ")").c_str(),
                 {.file = "lib.a", .member = member});
}

TEST(ModuleName, WithoutAnArchiveBeforeAMatchingParenthesisIsAFile)
{
  for (auto const* name : {"b.o)", "(b.o)", "a)b)", "((a))"}) expect_parts(name, {.file = name});
}

TEST(ModuleName, OfAMemberIsThatWhichIsParsed)
{
  EXPECT_EQ(name_member("lib.a", "b.o", 1), "lib.a(b.o)");
  EXPECT_EQ(name_member("lib.a", "b.o", 2), "lib.a(b.o#2)");
  expect_parts(name_member("lib.a", "b.o", 3).c_str(),
               {.file = "lib.a", .member = "b.o", .count = "3"});
}
