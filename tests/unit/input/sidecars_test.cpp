// SPDX-License-Identifier: Apache-2.0
// Which .json beside a file is its sidecar. What the digest in it does: files_test.cpp.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "expect_error.hpp"
#include "fatlink/error.hpp"
#include "fixtures.hpp"
#include "input/find_sidecar.hpp"
#include "util/bytes/sha256.hpp"
#include "watched_files.hpp"

using namespace fatlink;
using fixtures::to_bytes;
using testing::Eq;
using testing::Optional;

namespace {

constexpr char const* k_reference = R"({"hook": "h", "reference": "x"})";
constexpr char const* k_foreign = R"({"name": "of another program"})";

/// The path of the sidecar of a file, which need not exist.
std::optional<std::filesystem::path> sidecar_file(std::filesystem::path const& path)
{
  auto const sidecar = detail::find_sidecar(path);
  return sidecar ? std::optional<std::filesystem::path>(sidecar->name()) : std::nullopt;
}

/// A sidecar that states the digest of a file with this content.
std::string stating(std::string const& content)
{
  return R"({"sha256": ")" + detail::to_hexadecimal(detail::sha256(to_bytes(content))) + R"("})";
}

}  // namespace

TEST(Sidecar, OfAFatbinIsTheJsonOfItsStemWhateverItHolds)
{
  fixtures::folder const folder;
  auto const fatbin = folder.write("x.fatbin", "");
  EXPECT_FALSE(sidecar_file(fatbin));
  folder.write("x.fatbin.json", k_reference);
  EXPECT_FALSE(sidecar_file(fatbin));
  auto const sidecar = folder.write("x.json", k_foreign);
  EXPECT_THAT(sidecar_file(fatbin), Optional(Eq(sidecar)));
}

TEST(Sidecar, OfAJsonIsItself)
{
  fixtures::folder const folder;
  EXPECT_FALSE(sidecar_file(folder.path() / "x.json"));
  auto const sidecar = folder.write("x.json", k_foreign);
  EXPECT_THAT(sidecar_file(sidecar), Optional(Eq(sidecar)));
}

TEST(Sidecar, OfASourceIsThatOfItsWholeNameOrElseOfItsStem)
{
  for (auto const* name : {"x.cu", "x.ll", "x.bc"}) {
    fixtures::folder const folder;
    auto const source = folder.write(name, "");
    EXPECT_FALSE(sidecar_file(source)) << name;
    auto const shared = folder.write("x.json", k_reference);
    EXPECT_THAT(sidecar_file(source), Optional(Eq(shared))) << name;
    auto const own = folder.write(name + std::string(".json"), k_reference);
    EXPECT_THAT(sidecar_file(source), Optional(Eq(own))) << name;
  }
}

TEST(Sidecar, OfASourceMayStateTheDigestOfWhatIsCompiledFromIt)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "source");
  auto const shared = folder.write("x.json", stating("fatbin"));
  EXPECT_THAT(sidecar_file(source), Optional(Eq(shared)));
}

TEST(Sidecar, OfASourceIsNotThatOfAFatbinNamedAfterIt)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "");
  folder.write("x.cu.json", k_reference);
  folder.write("x.cu.fatbin", "");
  EXPECT_FALSE(sidecar_file(source));
}

TEST(Sidecar, OfASourceIsNotTheJsonOfAnotherProgram)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "");
  folder.write("x.cu.json", k_foreign);
  folder.write("x.json", k_foreign);
  EXPECT_FALSE(sidecar_file(source));
}

TEST(Sidecar, OfASourceMustBeJson)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "");
  folder.write("x.json", "{\n  x}");
  expect_error<file_error>([&] { (void)sidecar_file(source); },
                           "x.json: is not JSON (line 2, column 3)");
}

TEST(Sidecar, OfAnotherFileIsThatOfItsWholeName)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  folder.write("x.json", k_reference);
  auto const own = folder.write("x.cubin.json", stating("other"));
  EXPECT_THAT(sidecar_file(cubin), Optional(Eq(own)));
}

TEST(Sidecar, OfItsStemIsForAnyFileIfItStatesNoDigest)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  auto const shared = folder.write("x.json", k_reference);
  EXPECT_THAT(sidecar_file(cubin), Optional(Eq(shared)));
}

TEST(Sidecar, OfItsStemIsForTheFileWhoseDigestItStates)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  auto const ptx = folder.write("x.ptx", "ptx");
  auto const shared = folder.write("x.json", stating("cubin"));
  EXPECT_THAT(sidecar_file(cubin), Optional(Eq(shared)));
  EXPECT_FALSE(sidecar_file(ptx));
}

TEST(Sidecar, OfItsStemIsNotTheJsonOfAnotherProgram)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  folder.write("x.json", k_foreign);
  EXPECT_FALSE(sidecar_file(cubin));
}

TEST(Sidecar, WithADigestIsNotThatOfAFileThatCannotBeRead)
{
  fixtures::folder const folder;
  folder.write("x.json", stating("cubin"));
  EXPECT_FALSE(sidecar_file(folder.path() / "x.cubin"));
  std::filesystem::create_directory(folder.path() / "x.ptx");
  EXPECT_FALSE(sidecar_file(folder.path() / "x.ptx"));
}

/// The two are read one after the other, and may be replaced in between.
TEST(Sidecar, OfAnInputIsNeverThatOfAnother)
{
  fixtures::watched_files const files;
  files.write_pair(1);
  std::atomic<bool> ended = false;
  std::jthread const replacing([&] {
    for (int i = 0; !ended; ++i) files.write_pair(1 + i % 2);
  });
  auto whole = 0, mixed = 0;
  for (int i = 0; i < 3000; ++i) try {
      auto const file = input::read(files.fatbin());
      auto const number = file.digest() == files.digest(1) ? 1 : 2;
      ++(detail::sidecar_of(file)->text() == files.sidecar_text(number) ? whole : mixed);
    } catch (file_error const&) {
      continue;
    }
  ended = true;
  EXPECT_GT(whole, 0);
  EXPECT_EQ(mixed, 0);
}

TEST(Sidecar, OfAnInputIsThatWhichItWasReadWith)
{
  fixtures::watched_files const files;
  files.write_pair(1);
  auto const file = input::read(files.fatbin());
  files.write_pair(2);
  EXPECT_EQ(detail::sidecar_of(file)->text(), files.sidecar_text(1));
}

TEST(Sidecar, OfBytesIsThatBesideTheFileOfTheirName)
{
  fixtures::watched_files const files;
  files.write_pair(1);
  auto const first = input::read(files.fatbin());
  auto const read_again = [&] {
    auto const bytes = first.bytes();
    return input::from_bytes({bytes.begin(), bytes.end()}, files.fatbin().string());
  };
  EXPECT_EQ(detail::sidecar_of(read_again())->text(), files.sidecar_text(1));
  auto const file = read_again();
  files.write_pair(2);
  EXPECT_THROW((void)detail::sidecar_of(file), format_error);
}

TEST(Sidecar, OfItsStemIsThatOfTheFatbinBesideAFileWhoseDigestItDoesNotState)
{
  fixtures::folder const folder;
  folder.write("x.json", stating("fatbin"));
  folder.write("x.fatbin", "fatbin");
  folder.write("x.cubin", "cubin");
  EXPECT_FALSE(detail::find_sidecar(folder.path() / "x.cubin", to_bytes("cubin")).sidecar);
}
