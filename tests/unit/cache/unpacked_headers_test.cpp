// SPDX-License-Identifier: Apache-2.0
// Headers that a cache unpacks for compiles.
#include <sys/stat.h>

#include <functional>
#include <vector>

#include "cache/ledger.hpp"
#include "cache/unpacked_headers.hpp"
#include "cache_fixture.hpp"

using namespace fatlink;
using namespace fatlink::cache;
namespace fs = std::filesystem;

namespace {

constexpr char const* k_nvrtc_identity = "13.5 0123 1 builtins 4567 2";

class UnpackedHeaders : public fixtures::cache_test {
 protected:
  [[nodiscard]] unpacked_headers headers() const { return {root(), k_nvrtc_identity}; }
  /// What NVRTC does.
  void unpack() const
  {
    auto const turn = headers().make_folder();
    EXPECT_TRUE(turn);
    std::filesystem::create_directory(headers().path() / "cccl");
    std::ofstream(headers().path() / "cccl" / "config") << "int cccl;\n";
    std::ofstream(headers().path() / "cuda_fp16.h") << "int half;\n";
    std::ofstream(headers().path() / ".nvrtc_headers_version") << "format_version=1\n";
    headers().record();
  }
  static std::string refusal(unpacked_headers const& headers)
  {
    try {
      (void)headers.make_folder();
    } catch (folder_error const& failure) {
      return failure.message;
    }
    return {};
  }
};

}  // namespace

TEST_F(UnpackedHeaders, AreCompleteOnceTheVersionIsWritten)
{
  EXPECT_FALSE(headers().are_complete());
  (void)headers().make_folder();
  EXPECT_FALSE(headers().are_complete());
  unpack();
  EXPECT_TRUE(headers().are_complete());
  fs::remove(headers().path() / ".nvrtc_headers_version");
  EXPECT_FALSE(headers().are_complete());
}

TEST_F(UnpackedHeaders, ThatWereChangedAreUnpackedAnew)
{
  using change = std::function<void(fs::path const&)>;
  std::vector<change> const changes{[](fs::path const& header) { fs::resize_file(header, 0); },
                                    [](fs::path const& header) { fs::remove(header); },
                                    [](fs::path const& header) {  // of the same size and time
                                      auto const time = fs::last_write_time(header);
                                      std::fstream(header) << "long";
                                      fs::last_write_time(header, time);
                                    },
                                    [](fs::path const& header) {
                                      fs::remove(header);
                                      fs::create_symlink("/etc/hostname", header);
                                    },
                                    [](fs::path const& header) {
                                      fs::remove(header);
                                      fs::create_directory(header);
                                    }};
  for (auto const* name : {"cuda_fp16.h", "cccl/config"})
    for (auto const& damage : changes) {
      unpack();
      ASSERT_TRUE(headers().are_complete());
      damage(headers().path() / name);
      EXPECT_FALSE(headers().are_complete());
      (void)headers().make_folder();
      EXPECT_TRUE(fs::is_empty(headers().path()));
    }
}

TEST_F(UnpackedHeaders, OfWhichNoListIsThereAreUnpackedAnew)
{
  for (auto const* list : {"", "fatlink headers 1\nx", "fatlink headers 2\n"}) {
    unpack();
    auto const file = headers().path().string() + ".list";
    fs::remove(file);
    if (*list != 0) std::ofstream(file) << list;
    ::chmod(file.c_str(), 0600);
    EXPECT_FALSE(headers().are_complete()) << list;
  }
}

TEST_F(UnpackedHeaders, ThatAreCompleteAreKept)
{
  unpack();
  (void)headers().make_folder();
  EXPECT_TRUE(headers().are_complete());
}

TEST_F(UnpackedHeaders, AreVerifiedAndPrunedWithTheCache)
{
  unpack();
  link_cache cache(settings());
  EXPECT_EQ(cache.verify().sound, 1U);
  std::ofstream(headers().path() / "cuda_fp16.h") << "int full;\n";
  auto const found = cache.verify();
  ASSERT_EQ(found.damaged.size(), 1U);
  EXPECT_EQ(found.damaged[0].file, headers().path() / "cuda_fp16.h");
  EXPECT_EQ(found.damaged[0].reason, "it has other bytes than NVRTC wrote");
  EXPECT_EQ(cache.prune().entries, 1U);
  EXPECT_FALSE(fs::exists(headers().path()));
  EXPECT_TRUE(cache.verify().damaged.empty());
}

TEST_F(UnpackedHeaders, AreInAFolderOfTheCacheOfEachNvrtc)
{
  EXPECT_EQ(headers().path().parent_path(), root() / "headers");
  EXPECT_NE(headers().path(), unpacked_headers(root(), "13.6").path());
  unpack();
  EXPECT_FALSE(unpacked_headers(root(), "13.6").are_complete());
}

TEST_F(UnpackedHeaders, ClaimTheFolderSoThatTheCacheWorksInIt)
{
  unpack();
  link_cache cache(settings());
  EXPECT_EQ(fixtures::ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), testing::IsEmpty());
  EXPECT_TRUE(fs::exists(entry_of("a")));
}

TEST_F(UnpackedHeaders, AreInFoldersOfTheUserOnly)
{
  (void)headers().make_folder();
  for (auto const& folder : {root(), root() / "headers", headers().path()})
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all) << folder;
}

TEST_F(UnpackedHeaders, AreNotTakenFromAFolderThatOthersMayWriteTo)
{
  unpack();
  fs::permissions(headers().path(), fs::perms::all);
  EXPECT_FALSE(headers().are_complete());
  EXPECT_THAT(refusal(headers()), testing::HasSubstr("others may write to"));
}

TEST_F(UnpackedHeaders, AreNotTakenThroughASymbolicLink)
{
  unpack();
  fs::rename(root() / "headers", folder_.path() / "elsewhere");
  fs::create_directory_symlink(folder_.path() / "elsewhere", root() / "headers");
  EXPECT_FALSE(headers().are_complete());
  EXPECT_THAT(refusal(headers()), testing::HasSubstr("is a symbolic link"));
}

TEST_F(UnpackedHeaders, AreNotWrittenToAFolderOfOtherFiles)
{
  fs::create_directory(root());
  std::ofstream(root() / "letter.txt") << "mine\n";
  EXPECT_THAT(refusal(headers()),
              testing::HasSubstr("holds files that are not the cache's (letter.txt)"));
  EXPECT_FALSE(fs::exists(root() / "headers"));
}

TEST_F(UnpackedHeaders, NeedAFolder)
{
  unpacked_headers const nowhere({}, k_nvrtc_identity);
  EXPECT_FALSE(nowhere.are_complete());
  EXPECT_EQ(refusal(nowhere), "there is no cache folder: set HOME or FATLINK_CACHE_DIR");
}

TEST_F(UnpackedHeaders, AreRemovedWhenTheCacheIsCleared)
{
  unpack();
  fs::create_directories(root() / "headers.0123456789abcdef.tmp" /
                         "left");  // by a process that died
  (void)link_cache(settings()).clear();
  for (auto const& file : fs::directory_iterator(root()))
    EXPECT_FALSE(file.is_directory()) << file.path();
}

TEST_F(UnpackedHeaders, ThatAreASymbolicLinkAreRemovedWithoutWhatItLeadsTo)
{
  claim(folder::make(root(), folder::kind::own));
  auto const elsewhere = folder_.path() / "elsewhere";
  fs::create_directory(elsewhere);
  std::ofstream(elsewhere / "file") << "mine\n";
  fs::create_directory_symlink(elsewhere, root() / "headers");
  (void)link_cache(settings()).clear();
  EXPECT_FALSE(fs::exists(fs::symlink_status(root() / "headers")));
  EXPECT_TRUE(fs::exists(elsewhere / "file"));
}
