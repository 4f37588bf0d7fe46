// SPDX-License-Identifier: Apache-2.0
// Writing fatbins, and the inputs that a link gives to nvJitLink.
#include <gmock/gmock.h>

#include <algorithm>

#include "expect_error.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fixtures.hpp"
#include "form_inputs.hpp"
#include "toolkit/link_in_process.hpp"
#include "util/bytes/sha256.hpp"

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

void expect_refused_input(byte_buffer const& bytes, std::string const& says)
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
      } else if (entry.kind == entry_kind::elf) {
        EXPECT_EQ(written[0].compression, compression::none);
        EXPECT_TRUE(same_bytes(written[0].payload, read_elf(entry)));
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

// The bytes that nvJitLink receives are part of the results that caches keep.
TEST(FatbinWriter, WritesTheSameBytesOfOneEntryAsBefore)
{
  auto const written = [](char const* name, std::size_t index) {
    auto const bytes = write_fatbin(fixtures::fatbin(name).entries().at(index));
    return detail::to_hexadecimal(detail::sha256(bytes)).substr(0, 16);
  };
  EXPECT_EQ(written("library.fatbin", 0), "22e3d9d7dd250a3a");
  EXPECT_EQ(written("library.fatbin", 1), "9499ce4b46302be4");
  EXPECT_EQ(written("lz4.fatbin", 0), "b42da130d338b2af");
  EXPECT_EQ(written("lz4.fatbin", 1), "5ed7f01087f7d0a4");
  EXPECT_EQ(written("raw.fatbin", 1), "9abfc0c0721c33e4");
  EXPECT_EQ(written("several.fatbin", 3), "fbcf1e22bbc82aee");
  EXPECT_EQ(written("specific.fatbin", 0), "775bf05877145168");
  EXPECT_EQ(written("two_types_sass.fatbin", 1), "d90e7f64376c4f29");
}

TEST(FatbinWriter, WritesEntriesInTheLayoutOfNvcc)
{
  for (auto const* name : k_fixtures) {
    SCOPED_TRACE(name);
    auto const file = fixtures::fatbin(std::string(name) + ".fatbin");
    EXPECT_TRUE(same_bytes(write_fatbin(file.entries()), file.bytes()));
  }
}

// nvcc wrote them in the order of its command line, sm_100f first.
TEST(FatbinWriter, OrdersEntriesByTargetThenKind)
{
  auto const file = fixtures::fatbin("several_kinds.fatbin");
  auto entries = file.entries();
  auto const bytes = write_fatbin(entries);
  std::vector<std::string> names;
  for (auto const& entry : read_fatbin(bytes))
    names.push_back(std::string(to_string(entry.kind)) + ":" + entry.target.name());
  EXPECT_THAT(names, testing::ElementsAre("ptx:sm_75", "ltoir:sm_75", "elf:sm_90", "elf:sm_90a",
                                          "ptx:sm_90a", "ltoir:sm_90a", "elf:sm_100f"));
  std::ranges::reverse(entries);
  EXPECT_EQ(write_fatbin(entries), bytes);
}

TEST(FatbinWriter, KeepsPayloadsFlagsAndBinaryOptionsOfSeveralEntries)
{
  auto const file = fixtures::fatbin("several_kinds.fatbin");
  auto const bytes = write_fatbin(file.entries());
  for (auto const& written : read_fatbin(bytes)) {
    auto const same = [&](auto const& entry) {
      return entry.kind == written.kind && entry.target == written.target;
    };
    auto const entry = std::ranges::find_if(file.entries(), same);
    ASSERT_NE(entry, file.entries().end());
    EXPECT_EQ(written.flags, entry->flags);
    EXPECT_EQ(written.scramble_key, entry->scramble_key);
    EXPECT_EQ(written.compression, entry->compression);
    EXPECT_EQ(written.uncompressed_size, entry->uncompressed_size);
    EXPECT_EQ(written.ident_text, entry->ident_text);
    EXPECT_TRUE(same_bytes(written.payload, entry->payload));
    EXPECT_TRUE(same_bytes(written.stored_options, entry->stored_options));
  }
}

TEST(FatbinWriter, KeepsTheBinaryOptionsOfOneCubin)
{
  auto const file = fixtures::fatbin("several_kinds.fatbin");
  auto const& cubin = file.entries().front();
  ASSERT_EQ(cubin.target, target(100, 'f'));
  ASSERT_EQ(cubin.stored_options.size(), 36U);
  auto const bytes = write_fatbin(cubin);
  auto const written = read_fatbin(bytes);
  EXPECT_TRUE(same_bytes(written.at(0).stored_options, cubin.stored_options));
  EXPECT_EQ(write_fatbin(written[0]), bytes);
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

TEST(LinkInput, RefusesMoreOrLessThanOneEntry)
{
  auto const sass = fixtures::fatbin("two_types_sass.fatbin");
  auto const bytes = write_fatbin(sass.entries()[0]);
  auto twice = bytes;
  twice.insert(twice.end(), bytes.begin(), bytes.end());
  auto longer = bytes;
  longer.insert(longer.end(), bytes.begin(), bytes.begin() + 16);
  std::fill_n(longer.end() - 8, 8, std::byte{0});  // the length of a container without entries

  expect_refused_input(fixtures::bytes("transform.fatbin"), "holds 2 entries instead of one");
  expect_refused_input(twice, "holds 2 entries instead of one");
  expect_refused_input(longer, "is not as fatlink writes it");
  expect_refused_input({}, "empty");
}

TEST(FatbinWriter, WritesPtxForNvjitlinkInAscii)
{
  auto const module = fixtures::ptx_module("a.ptx",
                                           "// gr\xC3\xB6\xC3\x9F"
                                           "e\v\n.file 1 \"\xC3\xBC.cu\"\f\n");
  auto const& file = module.modules().front();
  auto const written = link_input::write(file, file.entries().front());
  auto const entries = read_fatbin(written.bytes());
  EXPECT_THAT(read_ptx(entries.at(0)), testing::HasSubstr("// gr????e \n.file 1 \"??.cu\" \n"));
  EXPECT_NO_THROW((void)link_input::read(written.bytes(), "a.ptx"));
}
