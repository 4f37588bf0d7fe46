// SPDX-License-Identifier: Apache-2.0
// Which files a compile may read, and what is recorded of them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "cache_fixture.hpp"
#include "compiler/header_files.hpp"
#include "environment.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using file_kind = looked_up_file::file_kind;
namespace fs = std::filesystem;

namespace {

class HeaderFiles : public testing::Test {
 protected:
  void SetUp() override
  {
    for (auto const* name : {"one", "one/a", "two", "cuda"})
      fs::create_directory(folder_.path() / name);
    options_.include_folders = {folder_.path() / "one", folder_.path() / "two"};
  }
  void write(std::string const& name, std::string const& text) { (void)folder_.write(name, text); }
  [[nodiscard]] header_files make() const
  {
    header_files files(options_, nullptr, [] {});
    files.set_cuda_folders({folder_.path() / "cuda"});
    return files;
  }
  /// The text at `path`; "none" or "folder".
  static std::string text_at(header_files& files, std::string const& path)
  {
    auto const found = files.answer(path);
    if (found.kind == file_kind::regular) return std::string(found.text);
    return found.kind == file_kind::folder ? "folder" : "none";
  }
  [[nodiscard]] std::string text_at(std::string const& path) const
  {
    auto files = make();
    return text_at(files, path);
  }
  /// The state of what a compile that looks `paths` up depends on.
  [[nodiscard]] std::string state_of(std::set<std::string> const& paths) const
  {
    auto files = make();
    return files.state_of(paths);
  }

  fixtures::folder folder_;
  compile_options options_;
};

}  // namespace

TEST_F(HeaderFiles, AreThoseOfTheFoldersByTheirNames)
{
  write("one/x.h", "int one;\n");
  write("two/x.h", "int two;\n");
  write("one/a/y.h", "int y;\n");
  write("cuda/cuda_fp16.h", "int half;\n");
  auto files = make();
  EXPECT_EQ(text_at(files, "/@1/x.h"), "int one;\n");
  EXPECT_EQ(text_at(files, "/@2/x.h"), "int two;\n");
  EXPECT_EQ(text_at(files, "/@1/a/../a/y.h"), "int y;\n");
  EXPECT_EQ(text_at(files, "/@1/a"), "folder");
  EXPECT_EQ(text_at(files, "/@cuda/cuda_fp16.h"), "int half;\n");
  EXPECT_EQ(text_at(files, "/@2/y.h"), "none");
  EXPECT_THAT(files.options(),
              ElementsAre("--include-path=/@1", "--include-path=/@2", "--include-path=/@data",
                          "--include-path=/@standard", "--include-path=/@cuda"));
}

TEST_F(HeaderFiles, MayBeNamedByTheirPathsIfAFolderHasThem)
{
  write("one/x.h", "int x;\n");
  write("secret.h", "secret\n");
  EXPECT_EQ(text_at((folder_.path() / "one/x.h").string()), "int x;\n");
  EXPECT_EQ(text_at((folder_.path() / "secret.h").string()), "none");
}

TEST_F(HeaderFiles, AreNeverOutsideOfTheFolders)
{
  write("secret.h", "secret\n");
  fs::create_symlink(folder_.path() / "secret.h", folder_.path() / "one/link.h");
  fs::create_symlink(folder_.path(), folder_.path() / "one/up");
  auto files = make();
  auto const absolute = (folder_.path() / "secret.h").string();
  for (auto const& name : {absolute, std::string("/@1/../secret.h"), std::string("/@1/link.h"),
                           std::string("/@1/up/secret.h"), std::string("/@1/up/missing.h"),
                           std::string("/@1/../missing.h"), std::string("/etc/passwd")}) {
    EXPECT_EQ(text_at(files, name), "none") << name;
    EXPECT_EQ(files.refusal_of(name), "is outside of the folders") << name;
  }
  for (auto const& name : {std::string("x.h"), std::string(""), "/@1/" + std::string(5000, 'a')})
    EXPECT_EQ(text_at(files, name), "none");
}

TEST_F(HeaderFiles, MayBeLinksIntoAnotherFolder)
{
  write("two/b.h", "int b;\n");
  fs::create_symlink("../two/b.h", folder_.path() / "one/link.h");
  auto files = make();
  EXPECT_EQ(text_at(files, "/@1/link.h"), "int b;\n");
  EXPECT_EQ(text_at(files, "/@1/../two/b.h"), "int b;\n");
  EXPECT_EQ(files.answer("/@1/link.h").inode, files.answer("/@2/b.h").inode);
}

TEST_F(HeaderFiles, AreRegularFilesOfTextWithinTheLimits)
{
  ASSERT_EQ(::mkfifo((folder_.path() / "one/pipe.h").c_str(), 0600), 0);
  write("one/nul.h", std::string("int x;\0", 7));
  write("one/large.h", std::string((1 << 24) + 1, ' '));
  auto files = make();
  for (auto const& [name, reason] :
       {std::pair("pipe.h", "is not a regular file"), std::pair("nul.h", "has a NUL byte"),
        std::pair("large.h", "is larger than 16 MiB")}) {
    EXPECT_EQ(text_at(files, std::string("/@1/") + name), "none");
    EXPECT_EQ(files.refusal_of(name), reason);
  }
  EXPECT_EQ(files.refusal_of("other.h"), "");
}

TEST_F(HeaderFiles, AreReadWithoutAByteOrderMark)
{
  write("one/x.h", "\xEF\xBB\xBFint x;\n");
  EXPECT_EQ(text_at("/@1/x.h"), "int x;\n");
}

TEST_F(HeaderFiles, AreAtMostAsManyAsTheLimits)
{
  for (int i = 0; i <= 4096; ++i) write("one/h" + std::to_string(i), "\n");
  auto files = make();
  EXPECT_THROW(
      {
        for (int i = 0; i <= 4096; ++i) (void)files.answer("/@1/h" + std::to_string(i));
      },
      file_error);
  auto others = make();
  EXPECT_THROW(
      {
        for (int i = 0; i <= 131'072; ++i) (void)others.answer("/@1/n" + std::to_string(i));
      },
      file_error);
}

TEST_F(HeaderFiles, InMemoryComeFirstAndAreNotRecorded)
{
  options_.headers = {{"a/x.h", "int memory;\n"}};
  auto files = make();
  EXPECT_EQ(files.options().front(), "--include-path=/@memory");
  EXPECT_EQ(text_at(files, "/@memory/a/x.h"), "int memory;\n");
  EXPECT_EQ(text_at(files, "/@memory/b.h"), "none");
  EXPECT_THAT(files.record(), IsEmpty());
  options_.headers = {{"x.h", std::string("\0", 1)}};
  EXPECT_THROW((void)make(), file_error);
}

TEST_F(HeaderFiles, BeforeTheSourceHaveNoOthersBesideThem)
{
  write("one/config.h", "int config;\n");
  write("one/x.h", "int x;\n");
  options_.header = folder_.path() / "one/config.h";
  options_.include_folders.clear();
  auto files = make();
  EXPECT_THAT(files.options(), Contains("--pre-include=/@header/config.h"));
  EXPECT_EQ(text_at(files, "/@header/config.h"), "int config;\n");
  EXPECT_EQ(text_at(files, "/@header/x.h"), "none");
}

TEST_F(HeaderFiles, OfTheStandardLibraryAreFatlinksOrCccls)
{
  fs::create_directories(folder_.path() / "cuda/cuda/std");
  write("cuda/cuda/std/limits", "int limits;\n");
  auto files = make();
  EXPECT_EQ(text_at(files, "/@standard/limits").rfind("#include <cuda/std/limits>\n", 0), 0U);
  EXPECT_EQ(text_at(files, "/@standard/vector"), "none");
  EXPECT_EQ(text_at(files, "/@standard/../limits"), "none");
}

TEST_F(HeaderFiles, AreRecordedWithTheFirstPartThatIsMissing)
{
  if (::syscall(SYS_openat2, AT_FDCWD, "/", nullptr, 0) < 0 && errno == ENOSYS)
    GTEST_SKIP() << "the kernel or emulator has no openat2";
  write("one/x.h", "int x;\n");
  auto files = make();
  (void)files.answer("/@1/x.h");
  (void)files.answer("/@2/x.h");
  (void)files.answer("/@1/cub/block/y.h");
  (void)files.answer("/@1/a/b/z.h");
  EXPECT_EQ(files.answer("/@1/cub/thread/y.h").missing, std::string("/@1/cub").size());
  EXPECT_THAT(files.record(), ElementsAre("/@1/a/b", "/@1/cub", "/@1/x.h", "/@2/x.h"));
  EXPECT_THAT(files.files(), ElementsAre(fs::canonical(folder_.path() / "one/x.h")));
  auto const root = fs::canonical(folder_.path());
  EXPECT_THAT(files.missing_files(),
              ElementsAre(root / "one/a/b", root / "one/cub", root / "two/x.h"));
}

TEST_F(HeaderFiles, HaveAnotherStateWhenAFileChangesAppearsOrGoes)
{
  write("one/x.h", "int x;\n");
  std::set<std::string> const paths{"/@1/x.h", "/@2/x.h", "/@1/cub", "/@1/../secret.h"};
  auto const state = state_of(paths);
  EXPECT_EQ(state_of(paths), state);
  write("secret.h", "not in a folder\n");
  EXPECT_EQ(state_of(paths), state);
  write("one/x.h", "int y;\n");
  auto const changed = state_of(paths);
  EXPECT_NE(changed, state);
  write("two/x.h", "int x;\n");
  auto const added = state_of(paths);
  EXPECT_NE(added, changed);
  fs::create_directory(folder_.path() / "one/cub");
  EXPECT_NE(state_of(paths), added);
  fs::remove(folder_.path() / "one/x.h");
  fs::create_symlink("../two/x.h", folder_.path() / "one/x.h");
  auto const linked = state_of(paths);
  fs::remove(folder_.path() / "one/x.h");
  write("one/x.h", "int x;\n");
  EXPECT_NE(state_of(paths), linked) << "#pragma once tells a link from a copy";
}

TEST_F(HeaderFiles, OfAShippedCompileHaveAStateWithoutCuda)
{
  write("cuda/x.h", "int x;\n");
  std::set<std::string> const paths{"/@1/x.h", "/@cuda/x.h"};
  auto with = make();
  header_files without(options_, nullptr, [] {});
  EXPECT_EQ(with.state_of(paths, true), without.state_of(paths, true));
  EXPECT_NE(with.state_of(paths), without.state_of(paths));
}

TEST_F(HeaderFiles, KnowWhetherAFolderHidesOne)
{
  write("two/types.h", "typedef int real;\n");
  auto files = make();
  EXPECT_TRUE(files.has_own_of({"/@data/types.h"}));
  EXPECT_FALSE(files.has_own_of({"/@data/other.h", "/@cuda/cuda_fp16.h"}));
}

TEST_F(HeaderFiles, AreLookedUpWithinTheTimeLimit)
{
  header_files files(options_, nullptr, [] { throw std::runtime_error("late"); });
  EXPECT_THROW((void)files.answer("/@1/x.h"), std::runtime_error);
}

namespace {

constexpr char const* k_brings_none = "13.2 0123 1 builtins 4567 2";
constexpr char const* k_brings_headers = "13.3 0123 1 builtins 4567 2";

class CudaHeaders : public fixtures::cache_test {
 protected:
  void SetUp() override
  {
    fs::create_directories(wheel() / "lib");
    std::ofstream(wheel() / "lib/libnvrtc.so.13") << "no library\n";
  }
  [[nodiscard]] fs::path wheel() const { return folder_.path() / "wheel"; }
  [[nodiscard]] fs::path toolkit() const { return folder_.path() / "toolkit"; }

  static void add_headers(fs::path const& include)
  {
    fs::create_directories(include / "cccl");
    std::ofstream(include / "cuda_fp16.h") << "int half;\n";
  }
  [[nodiscard]] cuda_headers headers(char const* identity) const
  {
    return {{.path = (wheel() / "lib/libnvrtc.so.13").string(), .identity = identity}, &cache_};
  }
  [[nodiscard]] cache::unpacked_headers unpack() const
  {
    cache::unpacked_headers const place(root(), k_brings_headers);
    auto const unpacking = place.make_folder();
    add_headers(place.path());
    std::ofstream(place.path() / ".nvrtc_headers_version") << "format_version=1\n";
    place.record();
    return place;
  }

  link_cache cache_{settings()};
  fixtures::variable toolkit_{"CUDA_HOME", toolkit().string()};
};

}  // namespace

TEST_F(CudaHeaders, AreThoseOfTheToolkitOrWheelThatNvrtcBelongsTo)
{
  add_headers(wheel() / "include");
  add_headers(toolkit() / "include");
  for (auto const* identity : {k_brings_none, k_brings_headers}) {
    auto const found = headers(identity);
    EXPECT_THAT(found.folders(), ElementsAre(wheel() / "include", wheel() / "include/cccl"));
    EXPECT_FALSE(found.must_unpack());
  }
}

TEST_F(CudaHeaders, AreThoseOfAnotherToolkitForAnNvrtcThatBringsNone)
{
  add_headers(toolkit() / "include");
  EXPECT_THAT(headers(k_brings_none).folders(),
              ElementsAre(toolkit() / "include", toolkit() / "include/cccl"));
  EXPECT_FALSE(headers(k_brings_none).must_unpack());
}

TEST_F(CudaHeaders, AreThoseThatNvrtcBringsBeforeThoseOfAnotherToolkit)
{
  add_headers(toolkit() / "include");
  EXPECT_THAT(headers(k_brings_headers).folders(), IsEmpty());
  EXPECT_TRUE(headers(k_brings_headers).must_unpack());
  auto const place = unpack();
  EXPECT_THAT(headers(k_brings_headers).folders(),
              ElementsAre(place.path(), place.path() / "cccl"));
  EXPECT_FALSE(headers(k_brings_headers).must_unpack());
}

TEST_F(CudaHeaders, OfAWheelWithoutCcclAreCompletedByThoseThatNvrtcBrings)
{
  add_headers(wheel() / "include");
  fs::remove(wheel() / "include/cccl");
  EXPECT_TRUE(headers(k_brings_headers).must_unpack());
  auto const place = unpack();
  EXPECT_THAT(headers(k_brings_headers).folders(),
              ElementsAre(wheel() / "include", place.path(), place.path() / "cccl"));
}

TEST_F(CudaHeaders, AreThoseOfAnotherToolkitWhereNvrtcCannotUnpack)
{
  add_headers(toolkit() / "include");
  EXPECT_THAT(headers(k_brings_headers).installed_folders(),
              ElementsAre(toolkit() / "include", toolkit() / "include/cccl"));
}

TEST_F(CudaHeaders, AreUnpackedInTheDefaultFolderWithoutACache)
{
  fixtures::variable const named("FATLINK_CACHE_DIR", (folder_.path() / "default").string());
  cuda_headers const found({.path = "/nowhere/libnvrtc.so.13", .identity = k_brings_headers},
                           nullptr);
  EXPECT_EQ(found.unpacked().path().parent_path(), folder_.path() / "default/headers");
}
