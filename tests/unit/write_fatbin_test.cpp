// SPDX-License-Identifier: Apache-2.0
#include "fatbin/write_fatbin.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "expect_error.hpp"
#include "fixtures.hpp"
#include "nvjitlink/link_input.hpp"

using namespace fatlink;
using detail::link_input;
using detail::write_fatbin;

namespace {

constexpr auto k_fixtures = {"fast",         "library",        "lz4",           "raw",
                             "several",      "specific",       "transform",     "uncontracted",
                             "library_sass", "two_types_sass", "library_ltoir", "two_types_ltoir"};

bool same_bytes(bytes_view a, bytes_view b)
{
  return std::ranges::equal(a, b);
}

void expect_same_fields(fatbin_entry const& written, fatbin_entry const& entry)
{
  EXPECT_EQ(written.kind, entry.kind);
  EXPECT_EQ(written.target, entry.target);
  EXPECT_EQ(written.version_major, entry.version_major);
  EXPECT_EQ(written.version_minor, entry.version_minor);
  EXPECT_EQ(written.options, entry.options);
  EXPECT_EQ(written.ident_text, "");
}

void expect_refused(byte_buffer const& bytes, std::string const& says)
{
  expect_error<format_error>([&] { (void)link_input::read(bytes, "f"); }, says);
}

}  // namespace

TEST(FatbinWriter, WritesOneEntryThatReadsBackWithItsFieldsAndPayload)
{
  for (auto const* name : k_fixtures) {
    auto const file = fixtures::fatbin(std::string(name) + ".fatbin");
    for (auto const& entry : file.entries()) {
      SCOPED_TRACE(std::string(name) + " " + to_string(entry.kind));
      auto const bytes = write_fatbin(entry);
      auto const written = read_fatbin(bytes);
      ASSERT_EQ(written.size(), 1U);
      expect_same_fields(written[0], entry);
      if (entry.kind == entry_kind::ptx) {
        EXPECT_EQ(written[0].compression, compression::none);
        EXPECT_EQ(read_ptx(written[0]), read_ptx(entry));
      } else {
        EXPECT_EQ(written[0].compression, entry.compression);
        EXPECT_EQ(written[0].scramble_key, entry.scramble_key);
        EXPECT_EQ(written[0].flags, entry.flags);
        EXPECT_EQ(written[0].uncompressed_size, entry.uncompressed_size);
        EXPECT_TRUE(same_bytes(written[0].payload, entry.payload));
      }
      EXPECT_EQ(write_fatbin(written[0]), bytes);
    }
  }
}

TEST(LinkInput, IsReadBackOnlyAsItIsWritten)
{
  auto const file = fixtures::fatbin("transform.fatbin");
  for (auto const& entry : file.entries()) {
    auto const input = link_input::write(file, entry);
    EXPECT_EQ(input.name(), "transform.fatbin");
    EXPECT_TRUE(same_bytes(link_input::read(input.bytes(), "f").bytes(), input.bytes()));
  }
}

TEST(LinkInput, RefusesMoreOrLessThanOneEntryOfAPermittedKind)
{
  auto const sass = fixtures::fatbin("two_types_sass.fatbin");
  auto const bytes = write_fatbin(sass.entries()[0]);
  auto twice = bytes;
  twice.insert(twice.end(), bytes.begin(), bytes.end());
  auto longer = bytes;
  longer.insert(longer.end(), bytes.begin(), bytes.begin() + 16);
  std::fill_n(longer.end() - 8, 8, std::byte{0});  // the length of a container without entries

  ASSERT_EQ(sass.entries()[1].kind, entry_kind::elf);
  expect_refused(write_fatbin(sass.entries()[1]), "holds SASS");
  expect_refused(fixtures::bytes("transform.fatbin"), "holds 2 entries instead of one");
  expect_refused(twice, "holds 2 entries instead of one");
  expect_refused(longer, "is not as fatlink writes it");
  expect_refused({}, "empty");
}
