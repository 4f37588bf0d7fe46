// SPDX-License-Identifier: Apache-2.0
// Idents and their digests: what is written and read, and what is refused because of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "expect_error.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/ident.hpp"
#include "fatlink/ident.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using fatlink::parse_ident;
using fatlink::detail::decode_base64;
using fatlink::detail::encode_base64;

TEST(Base64, DecodesWhatRfc4648Gives)
{
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
}

TEST(Base64, EncodesAsRfc4648)
{
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode_base64("\xFF\x80"), "/4A=");
}

TEST(Base64, RefusesWhatIsNone)
{
  for (auto const* text : {"Zg", "Zg=", "Z===", "Zm9v!A==", "=Zg="})
    EXPECT_FALSE(decode_base64(text)) << text;
}

TEST(Ident, IsNothingForOtherText)
{
  // "", another tool's, JSON of no format, damaged JSON, a number where text belongs, 1e155.
  for (auto const* text : {"", "hello", "eyJmYXRsaW5rIjowfQ==", "eyJmYXRsaW5rIjox",
                           "eyJmYXRsaW5rIjoxLCJjb250cmFjdCI6N30=", "eyJmYXRsaW5rIjoxZTE1NX0="})
    EXPECT_FALSE(parse_ident(text)) << text;
}

TEST(Ident, NeedsNoContract)
{
  auto const found = parse_ident("eyJmYXRsaW5rIjoxfQ==");  // {"fatlink":1}
  ASSERT_TRUE(found);
  EXPECT_EQ(found->contract, "");
}

TEST(Ident, IsReadAsItWasWritten)
{
  fatlink::ident stated{.contract = "filters",
                        .version = 2,
                        .header_sha256 = std::string(64, 'a'),
                        .toolkit = "13.0.88",
                        .producer = "nvJitLink",
                        .float_flags = "-ftz=1",
                        .package = "p 2.0",
                        .contract_package = "q",
                        .hooks = {{"f", "FffE"}, {"quoted\"", "FvvE"}}};
  auto const found = parse_ident(fatlink::detail::encode_ident(stated));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->contract, stated.contract);
  EXPECT_EQ(found->version, stated.version);
  EXPECT_EQ(found->header_sha256, stated.header_sha256);
  EXPECT_EQ(found->toolkit, stated.toolkit);
  EXPECT_EQ(found->producer, stated.producer);
  EXPECT_EQ(found->float_flags, stated.float_flags);
  EXPECT_EQ(found->package, stated.package);
  EXPECT_EQ(found->contract_package, stated.contract_package);
  EXPECT_EQ(found->hooks, stated.hooks);
  EXPECT_EQ(decode_base64(fatlink::detail::encode_ident({})), "{\"fatlink\":1}");
}

TEST(Ident, NamesPackages)
{
  // {"fatlink":1,"package":"p 2.0","contract_package":"q"}
  auto const found =
      parse_ident("eyJmYXRsaW5rIjoxLCJwYWNrYWdlIjoicCAyLjAiLCJjb250cmFjdF9wYWNrYWdlIjoicSJ9");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->package, "p 2.0");
  EXPECT_EQ(found->contract_package, "q");
}

TEST(Ident, OfANewerFormatSaysThatAlone)
{
  // {"fatlink":2,"contract":"c"}
  auto const found = parse_ident("eyJmYXRsaW5rIjoyLCJjb250cmFjdCI6ImMifQ==");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->format, 2);
  EXPECT_EQ(found->contract, "");
}

TEST(Ident, ListsTheHooksOfTheContract)
{
  // {"fatlink":1,"contract":"c","hooks":{"f":"FffE"}}
  auto const found =
      parse_ident("eyJmYXRsaW5rIjoxLCJjb250cmFjdCI6ImMiLCJob29rcyI6eyJmIjoiRmZmRSJ9fQ==");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->hooks, (std::map<std::string, std::string>{{"f", "FffE"}}));
}

TEST(HookDeclaration, ShowsTheTypeAsCppWritesIt)
{
  using fatlink::hook_declaration;
  EXPECT_EQ(hook_declaration("f", "FffE"), "float f(float)");
  EXPECT_EQ(hook_declaration("f", "FvvE"), "void f()");
  EXPECT_EQ(hook_declaration("f", "FvPFffEE"), "void f(float (*)(float))");
}

TEST(HookDeclaration, KeepsMangledWhatIsNoSimpleFunctionType)
{
  using fatlink::hook_declaration;
  EXPECT_EQ(hook_declaration("f", "FPFffEiE"), "f: FPFffEiE");
  EXPECT_EQ(hook_declaration("f", "nonsense"), "f: nonsense");
  auto const large = "Fv" + std::string(200, 'P') + "iE";
  EXPECT_EQ(hook_declaration("f", large), "f: " + large);
}

// The digests in an ident: what add_digests() writes, and what reading refuses because of them.

namespace {

constexpr auto k_names = {"library.fatbin", "transform.fatbin", "lz4.fatbin",
                          "raw.fatbin",     "several.fatbin",   "library_sass.fatbin"};

byte_buffer with_digests(std::string const& name)
{
  return detail::add_digests(fixtures::bytes(name), name);
}

/// The bytes of the entry after `entry`.
std::size_t end_of(byte_buffer const& bytes, std::size_t entry)
{
  auto const entries = read_fatbin(bytes);
  return entry + 1 < entries.size() ? entries[entry + 1].offset : bytes.size();
}

/// A container of the entries of `bytes` with these numbers.
byte_buffer select(byte_buffer const& bytes, std::vector<std::size_t> const& numbers)
{
  byte_buffer selected(bytes.begin(), bytes.begin() + 16);
  for (auto const number : numbers) {
    auto const begin = static_cast<std::ptrdiff_t>(read_fatbin(bytes)[number].offset);
    auto const end = static_cast<std::ptrdiff_t>(end_of(bytes, number));
    selected.insert(selected.end(), bytes.begin() + begin, bytes.begin() + end);
  }
  auto const length = static_cast<std::uint64_t>(selected.size() - 16);
  std::memcpy(selected.data() + 8, &length, sizeof length);
  return selected;
}

void expect_refused_fatbin(byte_buffer bytes, std::string const& says)
{
  expect_error<format_error>([&] { (void)fatbin::from_bytes(std::move(bytes), "f.fatbin"); }, says);
}

/// The JSON of the first entry's ident.
std::string json_of(byte_buffer const& bytes)
{
  return detail::decode_base64(read_fatbin(bytes)[0].ident_text).value();
}

byte_buffer with_json(byte_buffer const& bytes, std::string const& ident)
{
  return detail::write_ident(bytes, detail::encode_base64(ident));
}

std::string replace(std::string text, std::string const& part, std::string const& other)
{
  return text.replace(text.find(part), part.size(), other);
}

}  // namespace

TEST(WriteIdent, OfTheSameTextChangesNoByteOfNvccsLayout)
{
  auto const bytes = fixtures::bytes("library.fatbin");
  EXPECT_EQ(detail::write_ident(bytes, read_fatbin(bytes)[0].ident_text), bytes);
}

TEST(WriteIdent, ChangesNothingElseOfAnEntry)
{
  for (auto const* name : k_names) {
    auto const bytes = fixtures::bytes(name);
    auto const before = read_fatbin(bytes);
    auto const written = detail::write_ident(bytes, std::string(1001, 'x'));
    auto const after = read_fatbin(written);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_EQ(after[i].ident_text, std::string(1001, 'x'));
      EXPECT_EQ(after[i].options, before[i].options) << name;
      EXPECT_EQ(after[i].flags, before[i].flags);
      EXPECT_EQ(after[i].scramble_key, before[i].scramble_key);
      EXPECT_TRUE(std::ranges::equal(after[i].payload, before[i].payload)) << name;
    }
    EXPECT_EQ(detail::write_ident(written, before[0].ident_text).size(),
              before[0].ident_text.empty() ? bytes.size() + 8 * before.size() : bytes.size());
  }
}

TEST(EntryDigests, VerifyAFatbinOfEveryStorageKind)
{
  for (auto const* name : k_names) {
    EXPECT_FALSE(fixtures::fatbin(name).is_verified()) << name;
    EXPECT_TRUE(fatbin::from_bytes(with_digests(name), name).is_verified()) << name;
  }
}

TEST(EntryDigests, KeepWhatTheIdentStatesBesides)
{
  auto const before = fixtures::fatbin("library.fatbin").ident();
  auto const after = fatbin::from_bytes(with_digests("library.fatbin"), "l").ident();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->contract, before->contract);
  EXPECT_EQ(after->toolkit, before->toolkit);
  EXPECT_EQ(after->float_flags, before->float_flags);
}

TEST(EntryDigests, AreWrittenAsIdentHppDescribes)
{
  auto const bytes = with_digests("raw.fatbin");
  auto const ident = json_of(bytes);
  auto const digest = [&](std::size_t entry) {
    auto const found = read_fatbin(bytes)[entry];
    auto const begin = bytes.begin() + static_cast<std::ptrdiff_t>(found.offset);
    byte_buffer content(begin, bytes.begin() + static_cast<std::ptrdiff_t>(end_of(bytes, entry)));
    content.erase(content.begin() + 0x40,
                  content.begin() + 0x40 + static_cast<std::ptrdiff_t>(found.ident_text.size()));
    return detail::short_digest({reinterpret_cast<char const*>(content.data()), content.size()});
  };
  auto const checked = R"({"fatlink":1,"entries":["ptx:sm_75 )" + digest(0) + R"(","ltoir:sm_75 )" +
                       digest(1) + R"("])";
  EXPECT_EQ(ident, checked + R"(,"check":")" + detail::short_digest(checked) + R"("})");
}

TEST(EntryDigests, AddedTwiceAreTheSameBytes)
{
  for (auto const* name : k_names)
    EXPECT_EQ(detail::add_digests(with_digests(name)), with_digests(name)) << name;
}

TEST(EntryDigests, RefuseEverySingleFlippedBit)
{
  for (auto const* name : {"transform.fatbin", "raw.fatbin"}) {
    auto bytes = with_digests(name);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_THROW(fatbin::from_bytes(bytes, name), format_error) << name << " bit " << bit;
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
}

TEST(EntryDigests, NameTheEntryThatWasDamaged)
{
  auto bytes = with_digests("raw.fatbin");
  auto const offset = read_fatbin(bytes)[1].offset;
  bytes.back() ^= std::byte{1};
  expect_refused_fatbin(bytes,
                        "f.fatbin: was damaged after it was built: the ltoir:sm_75 entry at byte " +
                            std::to_string(offset) +
                            " does not have the bytes that it was built with [digest-mismatch]");
}

TEST(EntryDigests, RefuseAnEntryThatWasMovedRemovedRepeatedOrAdded)
{
  auto const bytes = with_digests("several.fatbin");
  ASSERT_TRUE(fatbin::from_bytes(select(bytes, {0, 1, 2, 3}), "f").is_verified());
  expect_refused_fatbin(select(bytes, {1, 0, 2, 3}), "replaces the ptx:sm_75 entry");
  expect_refused_fatbin(select(bytes, {0, 1, 2}), "holds 3 entries and was built with 4");
  expect_refused_fatbin(select(bytes, {0, 1, 2, 3, 3}), "holds 5 entries and was built with 4");
  auto joined = bytes;
  auto const other = with_digests("raw.fatbin");
  joined.insert(joined.end(), other.begin(), other.end());
  expect_refused_fatbin(joined, "has another ident than the ptx:sm_75 entry");
}

TEST(EntryDigests, RefuseAPayloadOfAnotherFatbin)
{
  auto const bytes = with_digests("library.fatbin");
  auto const other =
      detail::write_ident(fixtures::bytes("transform.fatbin"), read_fatbin(bytes)[0].ident_text);
  expect_refused_fatbin(other, "the ptx:sm_75 entry at byte 16 does not have the bytes");
}

TEST(EntryDigests, RefuseAnIdentThatWasChanged)
{
  auto const bytes = with_digests("library.fatbin");
  auto const ident = json_of(bytes);
  expect_refused_fatbin(with_json(bytes, replace(ident, "apply_transform", "apply_transforn")),
                        "the ptx:sm_75 entry at byte 16 has a damaged ident");
  expect_refused_fatbin(with_json(bytes, replace(ident, R"(,"check")", R"(,"chock")")),
                        "damaged ident");
  expect_refused_fatbin(with_json(bytes, replace(ident, R"("entries")", R"("entrees")")),
                        "damaged ident");
  expect_refused_fatbin(with_json(bytes, ident.substr(0, ident.find(",\"check\"")) + "}"),
                        "damaged ident");
  expect_refused_fatbin(with_json(bytes, ident + " "), "damaged ident");
  expect_refused_fatbin(detail::write_ident(bytes, "eyJmYXRsaW5rIjox"), "damaged ident");
}

TEST(AddDigests, RefusesAnIdentThatItWouldLose)
{
  auto const raw = fixtures::bytes("raw.fatbin");
  expect_error<file_error>([&] { detail::add_digests(detail::write_ident(raw, "other"), "f"); },
                           "f: has an ident that fatlink did not write: no digests are added");
  expect_error<file_error>([&] { detail::add_digests(with_json(raw, R"({"fatlink":2})"), "f"); },
                           "f: has an ident from a newer fatlink");
  auto joined = raw;
  auto const library = fixtures::bytes("library.fatbin");
  joined.insert(joined.end(), library.begin(), library.end());
  expect_error<file_error>([&] { detail::add_digests(joined, "f"); },
                           "f: its entries have different idents");
}
