// SPDX-License-Identifier: Apache-2.0
// Toolkits and the .json beside a fatbin.
#include <gmock/gmock.h>

#include <fstream>
#include <stdexcept>

#include "expect_error.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"
#include "places.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;

namespace {

fatbin_entry entry_of(entry_kind kind, std::uint16_t major, std::uint16_t minor)
{
  fatbin_entry made;
  made.kind = kind;
  made.version_major = major;
  made.version_minor = minor;
  return made;
}

std::string toolkit(entry_kind kind, std::uint16_t major, std::uint16_t minor)
{
  auto const found = toolkit_of(entry_of(kind, major, minor));
  return found ? to_string(*found) : "unknown";
}

std::string made_by(std::string const& toolkit)
{
  return places::fixture("toolkits/cuda_" + toolkit + ".fatbin");
}

/// The LTO-IR entry of the fatbin at `path`, which is its last, in a container of its own.
fatbin ltoir_only(std::string const& path)
{
  auto const whole = fatbin::read(path);
  auto const& entry = whole.entries().back();
  if (entry.kind != entry_kind::ltoir) throw std::runtime_error(path + ": LTO-IR is not last");
  auto const header = whole.bytes().first(8);
  auto const body = whole.bytes().subspan(entry.offset);
  auto const size = static_cast<std::uint64_t>(body.size());
  byte_buffer bytes(header.begin(), header.end());
  for (unsigned shift = 0; shift < 64; shift += 8)
    bytes.push_back(static_cast<std::byte>(size >> shift & 0xFFU));
  bytes.insert(bytes.end(), body.begin(), body.end());
  return fatbin::from_bytes(std::move(bytes), "ltoir_only.fatbin");
}

/// What preflight says of the toolkit of `input` where nvJitLink `linker` links for sm_90.
std::vector<finding> toolkit_findings(fatbin const& input, toolkit_version linker)
{
  std::vector const inputs{input};
  auto findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::lto, .linker = linker});
  std::erase_if(findings, [](finding const& result) {
    return !std::string_view(to_string(result.id)).starts_with("toolkit-");
  });
  return findings;
}

/// Raw LTO-IR whose header states these versions.
fatbin raw_ltoir(unsigned container_minor, unsigned ir_minor, unsigned debug_metadata_minor = 2)
{
  auto bytes = fixtures::bytes("forms/transform.ltoir");
  bytes[5] = static_cast<std::byte>(container_minor);
  bytes[7] = static_cast<std::byte>(ir_minor);
  bytes[9] = static_cast<std::byte>(debug_metadata_minor);
  return input::from_bytes(std::move(bytes), "raw.ltoir").modules().front();
}

/// A fatbin of CUDA 13.5 without PTX, whose compressed LTO-IR states container 1.`minor`.
fatbin compressed_ltoir(unsigned minor)
{
  auto const original = ltoir_only(made_by("13.5"));
  byte_buffer bytes(original.bytes().begin(), original.bytes().end());
  bytes[16 + 0x18] = static_cast<std::byte>(minor);
  return fatbin::from_bytes(std::move(bytes), "compressed.fatbin");
}

/// The id of the only finding about toolkits; "none", "several".
std::string judged(fatbin const& input, toolkit_version linker)
{
  auto const findings = toolkit_findings(input, linker);
  if (findings.size() > 1) return "several";
  return findings.empty() ? "none" : to_string(findings[0].id);
}

}  // namespace

TEST(Toolkits, AreEstimatedFromTheEntrysVersion)
{
  EXPECT_EQ(toolkit(entry_kind::ptx, 9, 0), "13.0");
  EXPECT_EQ(toolkit(entry_kind::ptx, 9, 5), "13.5");
  EXPECT_EQ(toolkit(entry_kind::ptx, 8, 8), "12.9");
  EXPECT_EQ(toolkit(entry_kind::ptx, 8, 5), "12.5");
  EXPECT_EQ(toolkit(entry_kind::ptx, 7, 8), "unknown");
  EXPECT_EQ(toolkit(entry_kind::ltoir, 1, 64), "12.9");
  EXPECT_EQ(toolkit(entry_kind::ltoir, 1, 65), "13.0");
  EXPECT_EQ(toolkit(entry_kind::ltoir, 1, 66), "13.1");  // or newer
  EXPECT_EQ(toolkit(entry_kind::ltoir, 1, 67), "13.3");  // or newer
  EXPECT_EQ(toolkit(entry_kind::ltoir, 1, 99), "unknown");
  EXPECT_EQ(toolkit(entry_kind::elf, 1, 8), "unknown");
}

TEST(Toolkits, OfRawLtoirAreKnownByItsIrVersion)
{
  auto bytes = fixtures::bytes("forms/transform.ltoir");
  auto entry = entry_of(entry_kind::ltoir, 1, 67);
  bytes[5] = std::byte{67};
  for (auto const& [minor, version] :
       {std::pair(93U, "12.9"), std::pair(98U, "13.0"), std::pair(107U, "13.1"),
        std::pair(114U, "13.2"), std::pair(120U, "13.4"), std::pair(131U, "13.5"),
        std::pair(255U, "13.3")}) {  // by its container
    bytes[7] = static_cast<std::byte>(minor);
    entry.payload = bytes;
    EXPECT_EQ(to_string(toolkit_of(entry).value()), version);
  }
  entry.payload = bytes_view(bytes).first(7);
  EXPECT_EQ(to_string(toolkit_of(entry).value()), "13.3");
}

TEST(Toolkits, OfRealFatbins)
{
  for (auto const* version : {"12.9", "13.0", "13.5"}) {
    auto const read = fatbin::read(made_by(version));
    ASSERT_EQ(read.entries().size(), 2U);
    for (auto const& entry : read.entries())
      EXPECT_EQ(to_string(toolkit_of(entry).value()),
                entry.version_minor == 67 ? "13.3" : version);  // LTO-IR 1.67: 13.3 or newer
  }
}

TEST(Toolkits, JudgeAgainstTheLinker)
{
  std::vector const inputs{fatbin::read(made_by("13.5"))};
  auto const findings = preflight(
      inputs, {.target = "sm_90", .mode = link_mode::ptx, .linker = toolkit_version{13, 0}});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].id, finding_id::toolkit_too_new);
  EXPECT_THAT(findings[0].message,
              testing::HasSubstr("holds PTX of CUDA 13.5, which nvJitLink 13.0 cannot read"));
}

TEST(Toolkits, LtoirOf13_3OrNewerWithoutPtxLinksWithNvjitlink13_3And13_4)
{
  auto const input = ltoir_only(made_by("13.5"));
  ASSERT_EQ(input.entries().size(), 1U);
  EXPECT_TRUE(toolkit_findings(input, {13, 3}).empty());
  EXPECT_TRUE(toolkit_findings(input, {13, 4}).empty());
  auto const findings = toolkit_findings(input, {13, 2});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, finding_id::toolkit_too_new);
  EXPECT_THAT(
      findings[0].message,
      testing::HasSubstr("holds LTO-IR of CUDA 13.3 or newer, which nvJitLink 13.2 cannot read"));
  EXPECT_THAT(findings[0].hint, testing::HasSubstr("install nvJitLink 13.3 or newer"));
}

TEST(Toolkits, PtxOfTheSameFatbinTellsTheToolkitOfLtoirExactly)
{
  auto const findings = toolkit_findings(fatbin::read(made_by("13.5")), {13, 4});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, testing::HasSubstr("holds LTO-IR of CUDA 13.5, which"));
}

TEST(Toolkits, RawLtoirOfVersionsAboveTheTableIsTooNewForEveryLinkerOfTheTable)
{
  for (auto const& input : {raw_ltoir(68, 140), raw_ltoir(67, 140), raw_ltoir(65, 255),
                            raw_ltoir(68, 98), raw_ltoir(65, 98, 3)})
    for (unsigned minor = 0; minor <= 5; ++minor)
      EXPECT_EQ(judged(input, {13, minor}), "toolkit-too-new") << minor;
  auto const findings = toolkit_findings(raw_ltoir(68, 140), {13, 0});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "raw.ltoir holds LTO-IR of CUDA newer than 13.5, which nvJitLink 13.0 cannot read");
  EXPECT_EQ(findings[0].hint,
            "install nvJitLink of the CUDA version that compiled it, or newer, or compile it with "
            "CUDA 13.0");
}

TEST(Toolkits, LtoirOfVersionsAboveTheTableIsLeftToNewerLinkers)
{
  EXPECT_EQ(judged(raw_ltoir(68, 140), {13, 6}), "none");
  EXPECT_EQ(judged(raw_ltoir(68, 140), {14, 0}), "none");
  EXPECT_EQ(judged(compressed_ltoir(68), {13, 6}), "none");
}

TEST(Toolkits, LtoirOfVersionsAboveTheTableIsOfAnotherMajorVersionThanCuda12)
{
  EXPECT_EQ(judged(raw_ltoir(68, 140), {12, 9}), "toolkit-major");
  EXPECT_EQ(judged(compressed_ltoir(68), {12, 9}), "toolkit-major");
}

TEST(Toolkits, CompressedLtoirOfAContainerAboveTheTableIsTooNewForEveryLinkerOfTheTable)
{
  for (unsigned minor = 0; minor <= 5; ++minor)
    EXPECT_EQ(judged(compressed_ltoir(68), {13, minor}), "toolkit-too-new") << minor;
}

TEST(Toolkits, LtoirBetweenTheVersionsOfTwoToolkitsNeedsTheLinkerOfTheNewer)
{
  auto const input = raw_ltoir(67, 118);  // 13.3 writes 2.115, 13.4 writes 2.120
  EXPECT_EQ(judged(input, {13, 4}), "none");
  auto const findings = toolkit_findings(input, {13, 3});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, testing::HasSubstr("of CUDA newer than 13.3, which nvJitLink"));
  EXPECT_THAT(findings[0].hint,
              testing::HasSubstr("install nvJitLink 13.4 or newer (package libnvjitlink-13-4)"));
}

TEST(Toolkits, LtoirOfAContainerBelowTheTableIsOfAnotherMajorVersionThanCuda13)
{
  for (auto const& input : {raw_ltoir(60, 80), compressed_ltoir(60)}) {
    auto const findings = toolkit_findings(input, {13, 0});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, finding_id::toolkit_major);
    EXPECT_THAT(findings[0].message, testing::HasSubstr("holds LTO-IR of CUDA older than 12.9;"));
    EXPECT_EQ(judged(input, {12, 9}), "none");
  }
}

TEST(Fatbin, IsRefusedWhereItsJsonStatesAnotherDigest)
{
  auto const folder = testing::TempDir();
  auto const original = fatbin::read(made_by("13.0"));
  auto const bytes = original.bytes();
  std::ofstream(folder + "/t.fatbin", std::ios::binary)
      .write(reinterpret_cast<char const*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  std::ofstream(folder + "/t.json")
      << R"({"sha256": ")" + detail::to_hexadecimal(original.digest()) + R"("})";
  EXPECT_EQ(fatbin::read(folder + "/t.fatbin").entries().size(), 2U);
  EXPECT_TRUE(fatbin::read(folder + "/t.fatbin").is_verified());
  EXPECT_FALSE(original.is_verified()) << "neither its ident nor a .json states a digest";
  std::ofstream(folder + "/t.json") << R"({"sha256": ")" + std::string(64, '0') + R"("})";
  try {
    (void)fatbin::read(folder + "/t.fatbin");
    ADD_FAILURE() << "read";
  } catch (format_error const& failed) {
    EXPECT_EQ(failed.details().code, "digest-mismatch");
    EXPECT_EQ(failed.offset(), 0U);
    EXPECT_THAT(failed.what(), testing::HasSubstr("t.fatbin: is not the file that t.json states"));
  }
}

TEST(Fatbin, NamesItsKindsAsTheProgramPrintsThem)
{
  EXPECT_STREQ(to_string(entry_kind::ptx), "ptx");
  EXPECT_STREQ(to_string(entry_kind::elf), "elf");
  EXPECT_STREQ(to_string(entry_kind::ltoir), "ltoir");
  EXPECT_STREQ(to_string(compression::none), "none");
  EXPECT_STREQ(to_string(compression::lz4), "lz4");
  EXPECT_STREQ(to_string(compression::zstd), "zstd");
}

TEST(Json, StatesADigestInLowerCase)
{
  EXPECT_EQ(detail::to_hexadecimal(detail::sha256({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  fixtures::folder const folder;
  auto const file = folder.write("x.fatbin", fixtures::to_text(fixtures::bytes("raw.fatbin")));
  EXPECT_FALSE(fatbin::read(file).is_verified());
  auto const read_with = [&](std::string const& sidecar) {
    folder.write("x.json", sidecar);
    return fatbin::read(file);
  };
  auto const digest = detail::to_hexadecimal(fixtures::fatbin("raw.fatbin").digest());
  EXPECT_TRUE(read_with(R"({"sha256": ")" + digest + R"("})").is_verified());
  expect_error<file_error>([&] { (void)read_with(R"({"sha256": 12})"); },
                           "sha256: is not 64 hexadecimal digits");
  expect_error<file_error>([&] { (void)read_with(R"({"sha256": 4E4444444444})"); },
                           "holds a number that is out of range");
  expect_error<file_error>([&] { (void)read_with("[1]"); }, "is not a JSON object");
}
