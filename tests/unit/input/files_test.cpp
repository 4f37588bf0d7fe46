// SPDX-License-Identifier: Apache-2.0
// Inputs as files: how they are found and read, and what the .json beside them states.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "ar_archive.hpp"
#include "expect_error.hpp"
#include "expect_refused.hpp"
#include "fatlink/catalogue.hpp"
#include "fatlink/input.hpp"
#include "form_inputs.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using fixtures::ar_archive;
using fixtures::form;
using fixtures::text_of;
using fixtures::to_bytes;
using fixtures::to_text;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::string sidecar(std::string const& content)
{
  return R"({"sha256": ")" + detail::to_hexadecimal(detail::sha256(to_bytes(content))) + R"("})";
}

}  // namespace

TEST(InputFile, IsReadFromFilesByContentAndNotByName)
{
  fixtures::folder const folder;
  auto const path = folder.write("t.fatbin", text_of("transform.ptx"));
  EXPECT_EQ(input::read(path).form(), input_form::ptx);
  EXPECT_EQ(input::read(path).name(), path.string());
}

TEST(InputFile, ReadsRegularFilesOnly)
{
  fixtures::folder const folder;
  expect_error<file_error>([&] { (void)input::read(folder.path()); }, "is a directory");
  expect_error<file_error>([&] { (void)input::read(folder.path() / "absent"); }, "no such file");
  auto const fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  expect_error<file_error>([&] { (void)input::read(fifo); }, "is not a regular file");
  auto const large = folder.write("large", "");
  std::filesystem::resize_file(large, (std::uintmax_t{1} << 30U) + 1);
  expect_error<file_error>([&] { (void)input::read(large); }, "1073741825 bytes are more than");
}

TEST(InputFile, WithTheDigestThatItsSidecarStatesIsVerified)
{
  fixtures::folder const folder;
  for (auto const* name : {"transform.ptx", "relocatable.cubin", "two_units.o", "transform.a"}) {
    auto const path = folder.write(name, text_of(name));
    EXPECT_FALSE(input::read(path).is_verified()) << name;
    folder.write(std::filesystem::path(name).stem().string() + ".json", sidecar(text_of(name)));
    auto const file = input::read(path);
    EXPECT_TRUE(file.is_verified()) << name;
    EXPECT_EQ(file.digest(), detail::sha256(file.bytes())) << name;
    for (auto const& module : file.modules()) EXPECT_TRUE(module.is_verified()) << name;
    std::filesystem::remove(path.parent_path() / path.stem().concat(".json"));
  }
}

TEST(InputFile, WithAnotherDigestThanItsSidecarStatesIsRefused)
{
  fixtures::folder const folder;
  auto const path = folder.write("t.cubin", text_of("relocatable.cubin"));
  folder.write("t.json", sidecar("other"));
  expect_error<format_error>([&] { (void)input::read(path); },
                             "is not the file that t.json states");
  EXPECT_FALSE(input::read_unverified(path).is_verified());
  EXPECT_EQ(input::read_unverified(path).form(), input_form::cubin);
}

TEST(InputFile, BesideAFatbinDoesNotUseTheSidecarOfTheFatbin)
{
  fixtures::folder const folder;
  auto const fatbin = to_text(fixtures::bytes("transform.fatbin"));
  auto const path = folder.write("t.ptx", text_of("transform.ptx"));
  folder.write("t.json", sidecar(fatbin));
  EXPECT_TRUE(input::read(folder.write("t.fatbin", fatbin)).is_verified());
  EXPECT_FALSE(input::read(path).is_verified());
}

TEST(InputFile, HasTheSidecarOfItsWholeName)
{
  fixtures::folder const folder;
  auto const path = folder.write("t.cubin", text_of("relocatable.cubin"));
  folder.write("t.json", sidecar("other"));
  folder.write("t.cubin.json", sidecar(text_of("relocatable.cubin")));
  EXPECT_TRUE(input::read(path).is_verified());
  folder.write("t.json", sidecar(text_of("relocatable.cubin")));
  folder.write("t.cubin.json", sidecar("other"));
  expect_error<format_error>([&] { (void)input::read(path); },
                             "t.cubin: is not the file that t.cubin.json states");
  folder.write("t.cubin.json", R"({"hook": "h"})");
  EXPECT_FALSE(input::read(path).is_verified());
}

TEST(InputFile, IgnoresJsonOfOtherProgramsBesideOtherFilesThanFatbins)
{
  for (auto const* const text : {"[1]", "text", R"({"traceEvents": []})", R"({"name": "x"})"}) {
    fixtures::folder const folder;
    auto const path = folder.write("t.cubin", text_of("relocatable.cubin"));
    folder.write("t.cubin.json", text);
    EXPECT_FALSE(input::read(path).is_verified());
    folder.write("t.json", text);
    EXPECT_FALSE(input::read(path).is_verified());
    folder.write("t.json", sidecar(text_of("relocatable.cubin")));
    EXPECT_TRUE(input::read(path).is_verified());
    auto const fatbin = folder.write("u.fatbin", to_text(fixtures::bytes("transform.fatbin")));
    folder.write("u.json", "[1]");
    EXPECT_THROW((void)input::read(fatbin), file_error);
  }
}

TEST(InputFile, DoesNotUseTheSidecarOfAFatbinThatIsNamedAfterIt)
{
  fixtures::folder const folder;
  auto const path = folder.write("t.cubin", text_of("relocatable.cubin"));
  folder.write("t.cubin.fatbin", to_text(fixtures::bytes("transform.fatbin")));
  folder.write("t.cubin.json", sidecar(to_text(fixtures::bytes("transform.fatbin"))));
  EXPECT_FALSE(input::read(path).is_verified());
}

TEST(InputFile, DoesNotUseASidecarThatStatesTheDigestOfAnotherFileOfTheStem)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("t.cubin", text_of("relocatable.cubin"));
  auto const ptx = folder.write("t.ptx", text_of("transform.ptx"));
  folder.write("t.json", sidecar(text_of("relocatable.cubin")));
  EXPECT_TRUE(input::read(cubin).is_verified());
  EXPECT_FALSE(input::read(ptx).is_verified());
}

TEST(InputFile, IsRefusedWhereItsSidecarStatesTheDigestOfNoFileOfTheStem)
{
  fixtures::folder const folder;
  auto const cubin = folder.write("t.cubin", text_of("relocatable.cubin"));
  auto const ptx = folder.write("t.ptx", text_of("transform.ptx"));
  folder.write("u.ptx", "other");
  folder.write("t.json", sidecar("other"));
  for (auto const& path : {cubin, ptx})
    expect_error<format_error>([&] { (void)input::read(path); },
                               "is not the file that t.json states");
  for (int i = 0; i < 20; ++i) folder.write("t." + std::to_string(i), "no input");
  expect_error<format_error>([&] { (void)input::read(ptx); }, "is not the file that t.json states");
}

TEST(InputFile, ComparesTheDigestsOfIdentsInEveryModule)
{
  auto const good = fixtures::verified("transform.fatbin");
  auto const text = to_text(good.bytes());
  EXPECT_TRUE(input::from_bytes(ar_archive().member("t/", text).bytes(), "l.a").is_verified());
  auto damaged = text;
  damaged[damaged.size() - 20] ^= 1;
  auto const archive = ar_archive().member("t/", damaged).bytes();
  expect_error<format_error>([&] { (void)input::from_bytes(archive, "l.a"); }, "l.a(t)");
}

TEST(InputFile, IsFoundByTheNameOfAnInstalledFatbinOrByItsFile)
{
  ::setenv("FATLINK_PATH", fixtures::path("").c_str(), 1);
  EXPECT_EQ(input::find("transform").form(), input_form::fatbin);
  ::unsetenv("FATLINK_PATH");
  auto const file = fixtures::path("forms/transform.ptx").string();
  EXPECT_EQ(input::find(file).form(), input_form::ptx);
  expect_error<file_error>([] { (void)input::find("no_such_input"); }, "no_such_input");
  expect_error<file_error>([] { (void)input::find("absent.ptx"); }, "absent.ptx: no such file");
}

TEST(InputFile, IsLookedUpWithoutSlashAndWithoutTheEndingOfAnInput)
{
  for (auto const* name : {"gelu", "gelu.v2", "a"}) EXPECT_TRUE(is_input_name(name)) << name;
  for (auto const* file : {"", "./gelu", "a.fatbin", "a.ptx", "a.ltoir", "a.cubin", "a.o", "liba.a",
                           "a.so", "a.cu", "a.ll", "a.bc"})
    EXPECT_FALSE(is_input_name(file)) << file;
}
