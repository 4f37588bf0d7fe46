// SPDX-License-Identifier: Apache-2.0
// Reading fatbins: entries, compression, and damage.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>

#include "environment.hpp"
#include "expect_error.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fixtures.hpp"
#include "sanitizers.hpp"

using namespace fatlink;

namespace {

byte_buffer with_bytes(byte_buffer bytes, std::size_t at, std::initializer_list<unsigned> values)
{
  for (auto const value : values) bytes[at++] = static_cast<std::byte>(value);
  return bytes;
}

void expect_format_error(byte_buffer const& bytes, std::string const& id, std::string const& says)
{
  try {
    read_fatbin(bytes, "f");
    ADD_FAILURE() << "no error; expected " << says;
  } catch (format_error const& failed) {
    EXPECT_EQ(failed.details().code.text(), id);
    EXPECT_THAT(failed.what(), testing::HasSubstr(says));
    EXPECT_THAT(failed.what(), testing::HasSubstr("at byte " + std::to_string(failed.offset())));
  }
}

}  // namespace

TEST(FatbinReader, ListsPtxAndLtoirOfOneArchitecture)
{
  auto const file = fixtures::fatbin("transform.fatbin");
  ASSERT_EQ(file.entries().size(), 2U);
  auto const& ptx = file.entries()[0];
  EXPECT_EQ(ptx.kind, entry_kind::ptx);
  EXPECT_EQ(ptx.target, target("sm_75"));
  EXPECT_EQ(ptx.version_major, 9);
  EXPECT_EQ(ptx.compression, compression::zstd);
  EXPECT_EQ(ptx.offset, 16U);
  auto const& ltoir = file.entries()[1];
  EXPECT_EQ(ltoir.kind, entry_kind::ltoir);
  EXPECT_EQ(ltoir.version_major, 1);
  EXPECT_EQ(ltoir.version_minor, 65);
}

TEST(FatbinFile, IsReadWithoutItsSidecarOnRequest)
{
  fixtures::folder const folder;
  auto const bytes = fixtures::bytes("library.fatbin");
  auto const path =
      folder.write("t.fatbin", {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  folder.write("t.json", R"({"name":"t","sha256":")" + std::string(64, '0') + "\"}");
  expect_error<format_error>([&] { (void)fatbin::read(path); }, "t.json");
  EXPECT_EQ(fatbin::read_unverified(path).entries().size(),
            fixtures::fatbin("library.fatbin").entries().size());
}

TEST(FatbinReader, NamesCompressions)
{
  EXPECT_STREQ(to_string(compression::zstd), "zstd");
  for (auto const value : {compression::unknown, static_cast<compression>(99)})
    EXPECT_STREQ(to_string(value), "unknown");
}

TEST(FatbinReader, ReadsPtxOfEveryCompression)
{
  for (auto const* name : {"uncontracted.fatbin", "lz4.fatbin", "raw.fatbin"}) {
    auto const file = fixtures::fatbin(name);
    auto const text = read_ptx(file.entries()[0], name);
    EXPECT_THAT(text, testing::HasSubstr("(.param .b32 func_retval0) user_transform")) << name;
    EXPECT_EQ(text.find('\0'), std::string::npos) << name;
  }
}

TEST(FatbinReader, ReadsSuffixesAndFloatFlags)
{
  EXPECT_EQ(fixtures::fatbin("specific.fatbin").entries()[0].target, target("sm_90a"));
  EXPECT_EQ(fixtures::fatbin("several.fatbin").entries().size(), 4U);
  EXPECT_NE(fixtures::fatbin("several.fatbin").find(entry_kind::ltoir, "sm_103"), nullptr);
  EXPECT_EQ(fixtures::fatbin("several.fatbin").find(entry_kind::ltoir, "sm_103")->target,
            target("sm_100f"));
  EXPECT_EQ(fixtures::fatbin("transform.fatbin").entries()[1].float_flags(), float_flags{});
  float_flags const fast{.ftz = true, .prec_div = false, .prec_sqrt = false, .fmad = true};
  EXPECT_EQ(fixtures::fatbin("fast.fatbin").entries()[1].float_flags(), fast);
}

TEST(FatbinReader, ReadsTheIdentOfEveryEntry)
{
  auto const file = fixtures::fatbin("library.fatbin");
  for (auto const& entry : file.entries()) {
    auto const found = entry.ident();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->contract, "apply_transform");
    EXPECT_EQ(found->version, 1);
    EXPECT_EQ(found->toolkit, "13.0.88");
  }
  EXPECT_FALSE(fixtures::fatbin("raw.fatbin").entries()[0].ident());
}

TEST(FatbinReader, AcceptsConcatenatedContainers)
{
  auto both = fixtures::bytes("library.fatbin");
  auto const second = fixtures::bytes("transform.fatbin");
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(read_fatbin(both).size(), 4U);
}

TEST(FatbinReader, RejectsEveryTruncation)
{
  for (auto const* name : {"transform.fatbin", "raw.fatbin"}) {
    auto const good = fixtures::bytes(name);
    for (std::size_t n = 0; n < good.size(); ++n)
      EXPECT_THROW(read_fatbin(bytes_view(good).first(n)), format_error) << "kept " << n;
  }
}

TEST(FatbinReader, RejectsBrokenHeadersNamingTheByte)
{
  auto const good = fixtures::bytes("transform.fatbin");
  expect_format_error({}, "empty-input", "empty");
  expect_format_error(with_bytes(good, 0, {0}), "not-a-fatbin", "not a fatbin");
  expect_format_error(with_bytes(good, 4, {2}), "newer-format", "container version 2, which");
  expect_format_error(with_bytes(good, 6, {32}), "corrupt-fatbin", "container header of 32 bytes");
  expect_format_error(with_bytes(good, 8, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}),
                      "corrupt-fatbin", "truncated");
  expect_format_error(with_bytes(good, 18, {2}), "newer-format", "entry version");
  expect_format_error(with_bytes(good, 20, {65, 0}), "corrupt-fatbin", "entry header of 65 bytes");
  expect_format_error(with_bytes(good, 20, {0, 0, 1}), "corrupt-fatbin",
                      "header past the container");
  expect_format_error(with_bytes(good, 24, {0, 0, 0, 1}), "corrupt-fatbin",
                      "payload past the container");
  expect_format_error(with_bytes(good, 32, {0, 0, 1}), "corrupt-fatbin", "compressed size past");
  expect_format_error(with_bytes(good, 36, {0, 0, 1}), "corrupt-fatbin", "options outside");
  expect_format_error(with_bytes(good, 44, {1}), "corrupt-fatbin", "architecture 1");
  expect_format_error(with_bytes(good, 48, {0, 0, 1}), "corrupt-fatbin", "ident outside");
  expect_format_error(with_bytes(good, 57, {0xA0}), "corrupt-fatbin", "both compression flags");
  auto trailing = good;
  trailing.resize(good.size() + 8);
  expect_format_error(trailing, "corrupt-fatbin", "bytes after the last container");
}

TEST(FatbinReader, ListsWhatItDoesNotKnow)
{
  auto const good = fixtures::bytes("transform.fatbin");
  auto const of_other_kind = with_bytes(good, 16, {0x40, 0, 1, 1});
  auto const entries = read_fatbin(of_other_kind);
  ASSERT_EQ(entries.size(), read_fatbin(good).size());
  EXPECT_EQ(name_of(entries.front().kind), "kind 0x40");
  EXPECT_STREQ(to_string(entries.front().kind), "unknown");
  EXPECT_EQ(name_of(read_fatbin(with_bytes(good, 16, {0x80})).front().kind), "tileir");
  // Of another kind the architecture has no meaning.
  EXPECT_EQ(read_fatbin(with_bytes(of_other_kind, 44, {0})).size(), entries.size());

  auto const of_other_compression = read_fatbin(with_bytes(good, 57, {0x00}));
  auto const& entry = of_other_compression.front();
  EXPECT_EQ(entry.compression, compression::unknown);
  EXPECT_FALSE(shows_interface(entry));
  try {
    (void)read_ptx(entry, "t.fatbin");
    ADD_FAILURE();
  } catch (format_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::newer_format) << failure.what();
  }
}

TEST(FloatFlags, AreReadInEverySpelling)
{
  float_flags const fast{.ftz = true, .prec_div = false, .prec_sqrt = false, .fmad = true};
  for (auto const* text :
       {"-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1", "-ftz=1 -prec-div=0 -prec-sqrt=0 -fma=1",
        "--ftz=true --prec-div=false --prec-sqrt=false --fmad=true",
        "-ftz true -prec-div false -prec-sqrt false", "-use_fast_math", "--use-fast-math",
        "-generate-line-info -maxreg 32 -O3\t-ftz=0 -use_fast_math"}) {
    EXPECT_EQ(parse_float_flags(text), fast) << text;
    EXPECT_TRUE(states_float_flags(text)) << text;
    EXPECT_THAT(unknown_options(text), testing::IsEmpty()) << text;
  }
  EXPECT_EQ(parse_float_flags("-fmad=0 -fma=1"), float_flags{});  // the last one counts
  EXPECT_FALSE(parse_float_flags("-fma=0").fmad);
  for (auto const* text : {"", "-O3", "ftz=1", "-xftz=1", "-ftz=", "-ftz=2", "-prec_divide=0"}) {
    EXPECT_EQ(parse_float_flags(text), float_flags{}) << text;
    EXPECT_FALSE(states_float_flags(text)) << text;
  }
  EXPECT_THAT(unknown_options("-ftz=2 -O3 -fast-fma=1 -fmad"),
              testing::ElementsAre("-ftz=2", "-fast-fma=1", "-fmad"));
}

TEST(FatbinReader, ListsConcatenatedEntriesOneByOne)
{
  for (std::string const name : {"library", "transform"})
    for (std::string const made :
         {"13.4_default", "13.5_default", "13.5_size", "13.5_balance", "13.5_speed"}) {
      auto const file = "concatenated/" + name + "_" + made + ".fatbin";
      SCOPED_TRACE(file);
      auto const image = fixtures::bytes(file);
      auto const entries = read_fatbin(image, file);
      std::vector<std::string> names;
      for (auto const& entry : entries) {
        names.push_back(name_of(entry.kind) + ":" + entry.target.name());
        EXPECT_EQ(entry.ident_text, name == "library" ? "t" : "");
        if (entry.kind == entry_kind::ptx) {
          auto const text = read_ptx(entry);
          EXPECT_THAT(text, testing::HasSubstr("user_transform"));
          EXPECT_THAT(text, testing::HasSubstr(".target " + entry.target.name()));
          EXPECT_EQ(entry.options, entry.target.number() == 90 ? "-O2" : "");
          EXPECT_EQ(entry.version_major, 9);
        }
        EXPECT_EQ(entry.decompressed == nullptr, entry.kind == entry_kind::ltoir);
        // What nvJitLink gets is no longer concatenated.
        auto const alone = detail::write_fatbin(entry, file);
        auto const again = read_fatbin(alone);
        ASSERT_EQ(again.size(), 1U);
        EXPECT_EQ(again.front().kind, entry.kind);
        EXPECT_EQ(again.front().target, entry.target);
        EXPECT_EQ(again.front().decompressed, nullptr);
      }
      EXPECT_THAT(names, testing::UnorderedElementsAre("ptx:sm_75", "ptx:sm_90", "elf:sm_90",
                                                       "elf:sm_100", "ltoir:sm_75"));
      auto const fatbin = fatbin::from_bytes({image.begin(), image.end()}, file);
      for (auto const& entry : fatbin.entries())
        if (shows_interface(entry)) {
          EXPECT_EQ(fatbin.interface(entry).kernels.size(), name == "library" ? 1U : 0U);
        }
      EXPECT_EQ(read_fatbin(detail::write_fatbin(std::span(entries))).size(), entries.size());
    }
}

TEST(FatbinReader, RefusesBrokenHeadersOfConcatenatedEntries)
{
  auto const good = fixtures::bytes("concatenated/transform_13.5_default.fatbin");
  auto const& entries = read_fatbin(good);
  auto const first = std::ranges::find_if(
      entries, [](auto const& entry) { return entry.decompressed != nullptr; });
  auto const at = static_cast<std::size_t>(first->offset);  // of its header
  expect_format_error(with_bytes(good, at - 8, {9}), "corrupt-fatbin",
                      "9 concatenated entries, but");
  expect_format_error(with_bytes(good, at - 8, {1}), "corrupt-fatbin",
                      "bytes after the headers of concatenated entries");
  expect_format_error(with_bytes(good, at - 4, {0, 0, 1}), "corrupt-fatbin",
                      "headers of concatenated entries past");
  expect_format_error(with_bytes(good, at + 4, {0, 0, 1}), "corrupt-fatbin",
                      "a concatenated payload outside");
  expect_format_error(with_bytes(good, at + 8, {0, 0, 1}), "corrupt-fatbin",
                      "a concatenated payload outside");
  expect_format_error(with_bytes(good, at + 2, {2}), "newer-format", "entry version");
  expect_format_error(with_bytes(good, at + 0x20, {0x40, 0, 0, 0, 0xFF, 0xFF}), "corrupt-fatbin",
                      "ident outside");
  EXPECT_EQ(name_of(read_fatbin(with_bytes(
                good, at, {0x40}))[static_cast<std::size_t>(first - entries.begin())]
                        .kind),
            "kind 0x40");
}

TEST(FatbinReader, CountsConcatenatedPayloadsThatOverlap)
{
  constexpr std::uint32_t k_parts = 9;
  constexpr std::uint32_t k_header = 0x40 + 8 + k_parts * 0x40;
  constexpr std::uint64_t k_payload = std::uint64_t{128} << 20U;  // not compressed
  byte_buffer image(16 + k_header + k_payload);
  auto const put = [&](std::size_t at, auto value) {
    std::memcpy(&image[at], &value, sizeof value);
  };
  put(0, 0xBA55ED50U);
  put(4, 0x00100001U);
  put(8, std::uint64_t{k_header} + k_payload);
  put(16, 0x01010100U);  // concatenated
  put(20, k_header);
  put(24, k_payload);
  put(16 + 0x14, 0x40U);
  put(16 + 0x40, k_parts);
  put(16 + 0x44, k_header - 0x40);
  for (std::uint32_t part = 0; part < k_parts; ++part) {
    auto const at = 16 + 0x48 + part * 0x40;
    put(at, 0x01010001U);  // PTX
    put(at + 8, k_payload);
    put(at + 0x1C, 75U);
  }
  expect_format_error(image, "above-limit", "above 1 GiB once decompressed");
}

TEST(FatbinReader, SurvivesRandomMutations)
{
  std::mt19937 random(7);
  for (auto const* name :
       {"library.fatbin", "lz4.fatbin", "raw.fatbin", "concatenated/transform_13.5_default.fatbin",
        "concatenated/transform_13.5_speed.fatbin"}) {
    auto const good = fixtures::bytes(name);
    for (int i = 0; i < 20000; ++i) {
      auto bytes = good;
      for (auto k = random() % 4 + 1; k > 0; --k)
        bytes[random() % (i % 2 != 0 ? bytes.size() : 160)] = static_cast<std::byte>(random());
      try {
        for (auto const& entry : read_fatbin(bytes))
          if (entry.kind == entry_kind::ptx) (void)read_ptx(entry);
      } catch (format_error const&) {
        continue;
      }
    }
  }
}

TEST(FatbinReader, NamesTheFormOfAFileThatIsNotAFatbin)
{
  for (auto const& [name, description] :
       {std::pair("object.o", "an ELF relocatable object (x86-64) with relocatable device code"),
        std::pair("relocatable.cubin", "a relocatable CUDA cubin for sm_90"),
        std::pair("transform.ltoir", "raw LTO-IR for sm_75 (container version 1.65)")})
    expect_format_error(fixtures::bytes(std::string("forms/") + name), "not-a-fatbin", description);
  expect_format_error({std::byte{0x50}, std::byte{0xED}}, "not-a-fatbin", "the first 2 bytes");
}

TEST(FatbinReader, SurvivesTruncatedAndMutatedFilesOfOtherForms)
{
  std::mt19937 random(7);
  for (auto const* name : {"object.o", "relocatable.cubin", "transform.ltoir"}) {
    auto const good = fixtures::bytes(std::string("forms/") + name);
    for (std::size_t n = 0; n < good.size(); ++n)
      EXPECT_THROW(read_fatbin(bytes_view(good).first(n)), format_error) << name << " kept " << n;
    for (int i = 0; i < 20000; ++i) {
      auto bytes = good;
      for (auto k = random() % 4 + 1; k > 0; --k)
        bytes[4 + random() % 60] = static_cast<std::byte>(random());
      EXPECT_THROW(read_fatbin(bytes), format_error) << name;
    }
  }
}

TEST(FatbinReader, RefusesPtxThatDoesNotDecompress)
{
  auto bytes = fixtures::bytes("transform.fatbin");
  auto const entry = read_fatbin(bytes)[0];
  auto const payload = static_cast<std::size_t>(entry.payload.data() - bytes.data());
  bytes[payload + 9] ^= std::byte{0xFF};
  expect_error<format_error>([&] { (void)read_ptx(read_fatbin(bytes)[0], "f"); },
                             "f: the PTX entry");
  auto const announced =
      with_bytes(fixtures::bytes("transform.fatbin"), 16 + 0x38, {0, 0, 0, 0x7F});
  expect_error<format_error>([&] { (void)read_ptx(read_fatbin(announced)[0], "f"); },
                             "above 256 MiB");
}

TEST(FatbinFile, NamesWhatIsNoFile)
{
  fixtures::folder const folder;
  expect_error<file_error>([&] { fatbin::read(folder.path() / "x"); }, "no such file");
  expect_error<file_error>([&] { fatbin::read(folder.path()); }, "is a directory");
  expect_error<file_error>([&] { fatbin::read("/dev/null"); }, "is not a regular file");
}

namespace {

/// Ends the process with status 0 if read_ptx throws bad_alloc where only pieces of memory of less
/// than 64 KiB are left. zstd needs larger ones.
[[noreturn]] void read_without_memory(fatbin_entry const& entry)
{
  rlimit const nothing{1, RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &nothing);
  while (std::malloc(std::size_t{64} << 10U) != nullptr) {
  }
  try {
    (void)read_ptx(entry);
  } catch (std::bad_alloc const&) {
    ::_exit(0);
  } catch (...) {
  }
  ::_exit(1);
}

}  // namespace

TEST(FatbinReader, NamesNoDamageWhereZstdHasNoMemory)
{
  if (fixtures::k_has_sanitizer) GTEST_SKIP() << "sanitizers need address space";
  if (fixtures::is_emulated()) GTEST_SKIP() << "the emulator does not limit the address space";
  auto const image = fixtures::bytes("library.fatbin");
  for (auto const& entry : read_fatbin(image)) {
    if (entry.compression != compression::zstd || entry.kind != entry_kind::ptx) continue;
    EXPECT_EXIT(read_without_memory(entry), testing::ExitedWithCode(0), "");
  }
}
