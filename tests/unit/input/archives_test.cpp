// SPDX-License-Identifier: Apache-2.0
// Members of archives, and damaged archives.
#include <gmock/gmock.h>

#include <random>

#include "ar_archive.hpp"
#include "fatlink/ptx_interface.hpp"
#include "form_inputs.hpp"

using namespace fatlink;
using fixtures::ar_archive;
using fixtures::form_bytes;
using fixtures::text_of;
using testing::ElementsAre;

namespace {

/// The text of a member: a PTX module with a function of this name.
std::string ptx_with(std::string const& function)
{
  return fixtures::with_ptx_head(".visible .func " + function + "() { ret; }\n");
}

input read_archive(byte_buffer const& archive)
{
  return input::from_bytes(archive, "lib.a");
}

/// "lib.a(NAME): FUNCTION" of each member.
std::vector<std::string> listing(byte_buffer const& archive)
{
  auto const file = read_archive(archive);
  std::vector<std::string> members;
  for (auto const& module : file.modules())
    members.push_back(module.name() + ": " +
                      module.interface(module.entries()[0]).definitions.at(0).name);
  return members;
}

void expect_refused_archive(byte_buffer const& archive, error_code code, std::string const& says)
{
  expect_refused([&] { (void)read_archive(archive); }, code, says);
}

void expect_corrupt_archive(std::string const& archive, std::string const& says)
{
  expect_refused_archive(fixtures::to_bytes(archive), error_code::corrupt_archive, says);
}

}  // namespace

TEST(Archive, ListsTheMembersThatArWrote)
{
  auto const archive = read_archive(form_bytes("transform.a"));
  auto const& modules = archive.modules();
  ASSERT_EQ(modules.size(), 1U);  // its member host.o holds no device code
  EXPECT_EQ(modules[0].name(), "lib.a(object.o)");
  auto const object = fixtures::form("object.o");
  EXPECT_TRUE(std::ranges::equal(modules[0].bytes(), object.modules().at(0).bytes()));
}

TEST(Archive, ReadsShortNamesOfBothVariants)
{
  auto const archive = ar_archive().member("a.o/", ptx_with("f")).member("b.o", ptx_with("g2"));
  EXPECT_THAT(listing(archive.bytes()), ElementsAre("lib.a(a.o): f", "lib.a(b.o): g2"));
}

TEST(Archive, ReadsLongNamesOfTheGnuVariant)
{
  EXPECT_THAT(listing(ar_archive()
                          .member("//", "a_name_of_20_bytes.o/\nwithout_slash.o\n")
                          .member("/0", ptx_with("f"))
                          .member("/22", ptx_with("g2"))
                          .bytes()),
              ElementsAre("lib.a(a_name_of_20_bytes.o): f", "lib.a(without_slash.o): g2"));
}

TEST(Archive, ReadsLongNamesOfTheBsdVariant)
{
  auto const data = std::string("long name.o\0", 12) + ptx_with("f");
  EXPECT_THAT(listing(ar_archive().member("#1/12", data).bytes()),
              ElementsAre("lib.a(long name.o): f"));
}

TEST(Archive, LeavesOutSymbolTables)
{
  auto const table = ptx_with("table");  // which would be a module
  auto archive = ar_archive().member("/", table).member("/SYM64/", table);
  archive.member("__.SYMDEF", table).member("__.SYMDEF SORTED", table);
  archive.member("#1/20", std::string("__.SYMDEF_64 SORTED\0", 20) + table);
  EXPECT_THAT(listing(archive.member("a.o/", ptx_with("f")).bytes()), ElementsAre("lib.a(a.o): f"));
}

TEST(Archive, MayHaveNoMembersAndEmptyMembersAndEqualNames)
{
  expect_refused_archive(ar_archive().bytes(), error_code::no_device_code,
                         "lib.a: no member holds device code that can be linked");
  auto const archive = ar_archive().member("a.o/", "").member("a.o/", ptx_with("f"));
  EXPECT_THAT(listing(archive.bytes()), ElementsAre("lib.a(a.o#2): f"));
}

TEST(Archive, EscapesControlCharactersOfNames)
{
  EXPECT_THAT(listing(ar_archive().member("a\x1B[1m/", ptx_with("f")).bytes()),
              ElementsAre("lib.a(a\\x1b[1m): f"));
}

TEST(Archive, RefusesThinOnes)
{
  expect_refused_archive(fixtures::to_bytes("!<thin>\n"), error_code::thin_archive,
                         "lib.a: is a thin archive");
}

TEST(Archive, RefusesTooManyMembers)
{
  ar_archive archive;
  for (int i = 0; i < 65537; ++i) archive.member("a.o/", "");
  expect_refused_archive(archive.bytes(), error_code::above_limit,
                         "lib.a: holds more than 65536 members, the limit");
}

TEST(Archive, RefusesMalformedHeaders)
{
  expect_refused_archive(fixtures::to_bytes("!<ARCH>\n"), error_code::unknown_form, "lib.a: is ");
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
  auto const names = ar_archive().member("a.o/", ptx_with("f")).member("//", "a_long_name.o/\n");
  auto const whole = names.bytes().size();  // where the third member begins
  auto const second = ar_archive().member("a.o/", ptx_with("f")).bytes().size();
  auto const good = ar_archive(names).member("/0", ptx_with("g")).bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    byte_buffer const part(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    if (size == second || size == whole)
      EXPECT_EQ(read_archive(part).modules().size(), 1U) << size;
    else
      EXPECT_THROW((void)read_archive(part), format_error) << size;
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
      EXPECT_FALSE(read_archive(bytes).modules().empty());
    } catch (format_error const&) {
      continue;
    }
  }
}
