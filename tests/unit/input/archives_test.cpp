// SPDX-License-Identifier: Apache-2.0
// Members of archives, and damaged archives.
#include <gmock/gmock.h>

#include <random>

#include "ar_archive.hpp"
#include "expect_refused.hpp"
#include "fixtures.hpp"
#include "input/archive.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using fixtures::ar_archive;
using testing::ElementsAre;

namespace {

/// "NAME=DATA" of each member.
std::vector<std::string> listing(byte_buffer const& archive)
{
  std::vector<std::string> members;
  for (auto const& member : read_archive(archive, "lib.a"))
    members.push_back(member.name + "=" + fixtures::to_text(member.bytes));
  return members;
}

void expect_corrupt_archive(std::string const& archive, std::string const& says)
{
  auto const bytes = fixtures::to_bytes(archive);
  expect_refused([&] { (void)read_archive(bytes, "lib.a"); }, error_code::corrupt_archive, says);
}

}  // namespace

TEST(Archive, ListsTheMembersThatArWrote)
{
  auto const archive = fixtures::bytes("forms/transform.a");
  auto const members = read_archive(archive, "transform.a");
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].name, "host.o");
  EXPECT_EQ(members[1].name, "object.o");
  auto const object = fixtures::bytes("forms/object.o");
  EXPECT_TRUE(std::ranges::equal(members[1].bytes, object));
  EXPECT_EQ(members[1].bytes.data(), archive.data() + members[1].offset);
}

TEST(Archive, ReadsShortNamesOfBothVariants)
{
  EXPECT_THAT(listing(ar_archive().member("a.o/", "1").member("b.o", "22").bytes()),
              ElementsAre("a.o=1", "b.o=22"));
}

TEST(Archive, ReadsLongNamesOfTheGnuVariant)
{
  EXPECT_THAT(listing(ar_archive()
                          .member("//", "a_name_of_20_bytes.o/\nwithout_slash.o\n")
                          .member("/0", "1")
                          .member("/22", "22")
                          .bytes()),
              ElementsAre("a_name_of_20_bytes.o=1", "without_slash.o=22"));
}

TEST(Archive, ReadsLongNamesOfTheBsdVariant)
{
  EXPECT_THAT(listing(ar_archive().member("#1/12", std::string("long name.o\0data", 16)).bytes()),
              ElementsAre("long name.o=data"));
}

TEST(Archive, LeavesOutSymbolTables)
{
  auto archive = ar_archive().member("/", "table").member("/SYM64/", "table");
  archive.member("__.SYMDEF", "table").member("__.SYMDEF SORTED", "table");
  archive.member("#1/20", std::string("__.SYMDEF_64 SORTED\0table", 25)).member("a.o/", "1");
  EXPECT_THAT(listing(archive.bytes()), ElementsAre("a.o=1"));
}

TEST(Archive, MayHaveNoMembersAndEmptyMembersAndEqualNames)
{
  EXPECT_THAT(listing(ar_archive().bytes()), ElementsAre());
  EXPECT_THAT(listing(ar_archive().member("a.o/", "").member("a.o/", "1").bytes()),
              ElementsAre("a.o=", "a.o=1"));
}

TEST(Archive, EscapesControlCharactersOfNames)
{
  EXPECT_THAT(listing(ar_archive().member("a\x1B[1m/", "1").bytes()), ElementsAre("a\\x1b[1m=1"));
}

TEST(Archive, RefusesThinOnes)
{
  auto const thin = fixtures::to_bytes("!<thin>\n");
  expect_refused([&] { (void)read_archive(thin, "lib.a"); }, error_code::thin_archive,
                 "lib.a: is a thin archive");
}

TEST(Archive, RefusesTooManyMembers)
{
  ar_archive archive;
  for (int i = 0; i < 65537; ++i) archive.member("a.o/", "");
  auto const bytes = archive.bytes();
  expect_refused([&] { (void)read_archive(bytes, "lib.a"); }, error_code::above_limit,
                 "lib.a: holds more than 65536 members, the limit");
}

TEST(Archive, RefusesMalformedHeaders)
{
  expect_corrupt_archive("!<ARCH>\n", "does not begin with !<arch>, at byte 0");
  auto broken = ar_archive().member("a.o/", "22").text();
  broken[8 + 58] = 'x';
  expect_corrupt_archive(broken, "expected a member header here, at byte 8");
  for (auto const* size : {"", "-1", "0x2", "2 2", "99999999999999999999"})
    expect_corrupt_archive(
        ar_archive().member("a.o/", "22", std::string(size).substr(0, 10)).text(), "");
  expect_corrupt_archive(ar_archive().member("a.o/", "22", "x").text(),
                         "a member's size is not a number, at byte 56");
  expect_corrupt_archive(ar_archive().member("a.o/", "22", "3").text(),
                         "truncated: 3 bytes are needed");
  auto unpadded = ar_archive().member("a.o/", "1").text();
  unpadded.back() = 'x';
  expect_corrupt_archive(unpadded, "expected padding here, at byte 69");
}

TEST(Archive, RefusesMalformedNames)
{
  expect_corrupt_archive(ar_archive().member("", "1").text(), "a member has no name of one line");
  expect_corrupt_archive(ar_archive().member("#1/3", "a\nb").text(),
                         "a member has no name of one line");
  expect_corrupt_archive(ar_archive().member("/0", "1").text(),
                         "is not in the table of long names");
  expect_corrupt_archive(ar_archive().member("//", "a/\n").member("/9", "1").text(),
                         "is not in the table");
  expect_corrupt_archive(ar_archive().member("//", "a/\n").member("/x", "1").text(),
                         "is not in the table");
  expect_corrupt_archive(ar_archive().member("//", "a/").member("/0", "1").text(),
                         "name does not end");
  expect_corrupt_archive(
      ar_archive().member("//", std::string(20000, 'a') + "/\n").member("/0", "").text(),
      "name does not end");
  expect_corrupt_archive(ar_archive().member("//", "a/\n").member("//", "b/\n").text(),
                         "a second table of long names");
  expect_corrupt_archive(ar_archive().member("#1/9", "1").text(), "longer than the member");
  expect_corrupt_archive(ar_archive().member("#1/x", "1").text(), "longer than the member");
}

TEST(Archive, RefusesEveryTruncationInsideAMember)
{
  auto const good = ar_archive().member("//", "a_long_name.o/\n").member("/0", "123").bytes();
  auto const first = 8 + 60 + 16;  // where the second member begins
  for (int size = 0; size < static_cast<int>(good.size()); ++size) {
    byte_buffer const part(good.begin(), good.begin() + size);
    if (size == 8 || size == first)
      EXPECT_NO_THROW(read_archive(part, "lib.a")) << size;
    else
      EXPECT_THROW(read_archive(part, "lib.a"), format_error) << size;
  }
}

TEST(Archive, SurvivesMutations)
{
  std::mt19937 random(7);
  auto const good = fixtures::bytes("forms/transform.a");
  for (int i = 0; i < 5000; ++i) {
    auto bytes = good;
    for (auto k = random() % 4 + 1; k > 0; --k)
      bytes[random() % (i % 2 != 0 ? bytes.size() : 400)] = static_cast<std::byte>(random());
    try {
      for (auto const& member : read_archive(bytes, "lib.a"))
        EXPECT_LE(member.offset + member.bytes.size(), bytes.size());
    } catch (format_error const&) {
      continue;
    }
  }
}
