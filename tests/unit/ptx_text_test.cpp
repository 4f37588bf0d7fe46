// SPDX-License-Identifier: Apache-2.0
#include "input/ptx_text.hpp"

#include "ar_archive.hpp"
#include "expect_refused.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

std::string const k_head = ".version 9.0\n.target sm_75\n.address_size 64\n";

void expect_corrupt(std::string const& text, std::string const& says)
{
  auto const bytes = fixtures::to_bytes(text);
  expect_refused([&] { (void)read_ptx_text(bytes, "t.ptx"); }, error_code::corrupt_ptx, says);
}

std::string target_of(std::string const& statement)
{
  auto const bytes =
      fixtures::to_bytes(".version 9.0\n.target " + statement + "\n.address_size 64");
  return read_ptx_text(bytes, "t.ptx").target.name();
}

}  // namespace

TEST(PtxText, StatesVersionAndTargetOfEveryCompiler)
{
  for (auto const* name : {"transform.ptx", "nvrtc.ptx"}) {
    auto const bytes = fixtures::bytes(std::string("forms/") + name);
    auto const ptx = read_ptx_text(bytes, name);
    EXPECT_EQ(ptx.version_major, 9) << name;
    EXPECT_EQ(ptx.version_minor, 0) << name;
    EXPECT_EQ(ptx.target, target("sm_75")) << name;
  }
}

TEST(PtxText, DropsNulsAtTheEndOnly)
{
  auto const bytes = fixtures::to_bytes(k_head + std::string(3, '\0'));
  EXPECT_EQ(read_ptx_text(bytes, "t.ptx").text, k_head);
}

TEST(PtxText, MayHaveCommentsAnywhereInItsHead)
{
  auto const bytes = fixtures::to_bytes(
      "// Generated\n/* .version 1.0\n */ .version /* */ 8.7 // \xC3\xBC \xE2\x82\xAC "
      "\xF0\x9F\x98\x80\n"
      "\t.target sm_90\r\n\v\f.address_size 64");
  EXPECT_EQ(read_ptx_text(bytes, "t.ptx").version_minor, 7);
}

TEST(PtxText, ReadsTheSuffixAndIgnoresTheOptionsOfItsTarget)
{
  EXPECT_EQ(target_of("sm_90a"), "sm_90a");
  EXPECT_EQ(target_of("sm_100f"), "sm_100f");
  EXPECT_EQ(target_of("sm_120, debug, texmode_independent"), "sm_120");
  EXPECT_EQ(target_of("sm_35"), "sm_35");
}

TEST(PtxText, RefusesAMissingOrMisspelledVersion)
{
  expect_corrupt("", "has its end where .version must be (line 1)");
  expect_corrupt("// nothing\n", "has its end where .version must be (line 2)");
  expect_corrupt("\n.target sm_75\n", "has '.target' where .version must be (line 2)");
  for (auto const* version : {"9", "nine", "9.x", "9.99999", ""})
    expect_corrupt(std::string(".version ") + version + "\n.target sm_75",
                   "has '" + std::string(*version == '\0' ? ".target" : version) +
                       "' where a version must be");
}

TEST(PtxText, RefusesAMissingOrMisspelledTarget)
{
  expect_corrupt(".version 9.0\n.address_size 64", "has '.address_size' where .target must be");
  for (auto const* target : {"compute_75", "sm_", "sm_a", "sm_9x", "sm_9", "sm_1000", "90"})
    expect_corrupt(std::string(".version 9.0 .target ") + target,
                   "where a target must be (line 1)");
  expect_corrupt(".version 9.0 .target sm_75, .address_size 64",
                 "has '.address_size' where a target must be");
}

TEST(PtxText, RefusesAddressesThatHaveNot64Bits)
{
  expect_corrupt(".version 9.0\n.target sm_75\n", "has no .address_size 64 after .target");
  expect_corrupt(".version 9.0\n.target sm_75\n.visible", "has no .address_size 64");
  expect_corrupt(".version 9.0\n.target sm_75\n.address_size 32\n",
                 "has .address_size '32', not 64 (line 3)");
}

TEST(PtxText, RefusesControlCharacters)
{
  expect_corrupt(k_head + std::string("a\0b", 3), "has a NUL before its end (line 4)");
  expect_corrupt(k_head + "\x01", "has the control character 0x01 (line 4)");
  expect_corrupt(k_head + "\x7F", "has the control character 0x7f");
}

TEST(PtxText, RefusesWhatIsNotUtf8)
{
  for (auto const* bytes : {"\xFF", "\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                            "\xF4\x90\x80\x80", "\xE2\x82", "\xE2x"})
    expect_corrupt(k_head + "// " + bytes, "has bytes that are not UTF-8 (line 4)");
}

TEST(PtxText, RefusesEveryTruncationOfItsHead)
{
  auto const good = fixtures::bytes("forms/transform.ptx");
  auto const text = fixtures::to_text(good);
  auto const end = text.find("64", text.find(".address_size")) + 2;
  for (std::size_t size = 0; size < end; ++size)
    EXPECT_THROW(read_ptx_text(bytes_view(good).first(size), "t.ptx"), format_error) << size;
}
