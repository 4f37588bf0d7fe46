// SPDX-License-Identifier: Apache-2.0
// Which .json beside a file is its sidecar. What the digest in it does: input_files_test.cpp.
#include "input/stated_digest.hpp"

#include <gmock/gmock.h>

#include "expect_error.hpp"
#include "fatlink/error.hpp"
#include "fixtures.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using detail::find_sidecar;
using fixtures::to_bytes;
using testing::Eq;
using testing::Optional;

namespace {

constexpr char const* k_reference = R"({"hook": "h", "reference": "x"})";
constexpr char const* k_foreign = R"({"name": "of another program"})";

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
  EXPECT_FALSE(find_sidecar(fatbin));
  folder.write("x.fatbin.json", k_reference);
  EXPECT_FALSE(find_sidecar(fatbin));
  auto const sidecar = folder.write("x.json", k_foreign);
  EXPECT_THAT(find_sidecar(fatbin), Optional(Eq(sidecar)));
}

TEST(Sidecar, OfAJsonIsItself)
{
  fixtures::folder const folder;
  EXPECT_FALSE(find_sidecar(folder.path() / "x.json"));
  auto const sidecar = folder.write("x.json", k_foreign);
  EXPECT_THAT(find_sidecar(sidecar), Optional(Eq(sidecar)));
}

TEST(Sidecar, OfASourceIsThatOfItsWholeNameOrElseOfItsStem)
{
  for (auto const* name : {"x.cu", "x.ll", "x.bc"}) {
    fixtures::folder const folder;
    auto const source = folder.write(name, "");
    EXPECT_FALSE(find_sidecar(source)) << name;
    auto const shared = folder.write("x.json", k_reference);
    EXPECT_THAT(find_sidecar(source), Optional(Eq(shared))) << name;
    auto const own = folder.write(name + std::string(".json"), k_reference);
    EXPECT_THAT(find_sidecar(source), Optional(Eq(own))) << name;
  }
}

TEST(Sidecar, OfASourceMayStateTheDigestOfWhatIsCompiledFromIt)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "source");
  auto const shared = folder.write("x.json", stating("fatbin"));
  EXPECT_THAT(find_sidecar(source), Optional(Eq(shared)));
}

TEST(Sidecar, OfASourceIsNotThatOfAFatbinNamedAfterIt)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "");
  folder.write("x.cu.json", k_reference);
  folder.write("x.cu.fatbin", "");
  EXPECT_FALSE(find_sidecar(source));
}

TEST(Sidecar, OfASourceIsNotTheJsonOfAnotherProgram)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "");
  folder.write("x.cu.json", k_foreign);
  folder.write("x.json", k_foreign);
  EXPECT_FALSE(find_sidecar(source));
}

TEST(Sidecar, OfASourceMustBeJson)
{
  fixtures::folder const folder;
  auto const source = folder.write("x.cu", "");
  folder.write("x.json", "{\n  x}");
  expect_error<file_error>([&] { (void)find_sidecar(source); },
                           "x.json: is not JSON (line 2, column 3)");
}

TEST(Sidecar, OfAnotherFileIsThatOfItsWholeName)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  folder.write("x.json", k_reference);
  auto const own = folder.write("x.cubin.json", stating("other"));
  EXPECT_THAT(find_sidecar(cubin), Optional(Eq(own)));
}

TEST(Sidecar, OfItsStemIsForAnyFileIfItStatesNoDigest)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  auto const shared = folder.write("x.json", k_reference);
  EXPECT_THAT(find_sidecar(cubin), Optional(Eq(shared)));
}

TEST(Sidecar, OfItsStemIsForTheFileWhoseDigestItStates)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  auto const ptx = folder.write("x.ptx", "ptx");
  auto const shared = folder.write("x.json", stating("cubin"));
  EXPECT_THAT(find_sidecar(cubin), Optional(Eq(shared)));
  EXPECT_FALSE(find_sidecar(ptx));
}

TEST(Sidecar, OfItsStemIsNotTheJsonOfAnotherProgram)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("x.cubin", "cubin");
  folder.write("x.json", k_foreign);
  EXPECT_FALSE(find_sidecar(cubin));
}

TEST(Sidecar, WithADigestIsNotThatOfAFileThatCannotBeRead)
{
  fixtures::folder const folder;
  folder.write("x.json", stating("cubin"));
  EXPECT_FALSE(find_sidecar(folder.path() / "x.cubin"));
  std::filesystem::create_directory(folder.path() / "x.ptx");
  EXPECT_FALSE(find_sidecar(folder.path() / "x.ptx"));
}
