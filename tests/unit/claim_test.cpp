// SPDX-License-Identifier: Apache-2.0
// A folder that is not the cache's: nothing in it is written, and every command refuses it.
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "cache_fixture.hpp"
#include "expect_error.hpp"

using namespace fatlink;
using fixtures::ask;
using fixtures::to_bytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class Claim : public fixtures::cache_test {
 protected:
  void SetUp() override
  {
    std::filesystem::create_directory(root());
    ::chmod(root().c_str(), 0700);
  }

  /// Every name in the folder with what it holds.
  [[nodiscard]] std::map<std::string, std::string> contents() const
  {
    std::map<std::string, std::string> files;
    for (auto const& file : std::filesystem::directory_iterator(root())) {
      std::ifstream in(file.path(), std::ios::binary);
      files[file.path().filename()] =
          file.is_regular_file() ? std::string(std::istreambuf_iterator<char>(in), {}) : "no file";
    }
    return files;
  }

  void expect_untouched() const
  {
    auto const before = contents();
    {
      link_cache cache(settings());
      EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
      EXPECT_THAT(cache.take_warnings(),
                  ElementsAre(HasSubstr("holds files that are not the cache's")));
      EXPECT_FALSE(cache.statistics().usable);
      auto const refusal = "holds files that are not the cache's";
      expect_error<file_error>([&] { (void)cache.clear(); }, refusal);
      expect_error<file_error>([&] { (void)cache.prune(); }, refusal);
      expect_error<file_error>([&] { (void)cache.verify(); }, refusal);
    }
    EXPECT_EQ(contents(), before);
  }

  std::string const users_text_ = std::string(4000, 'u');
};

}  // namespace

TEST_F(Claim, LeavesAUsersFileNamedLedgerAsItIs)
{
  write(root() / "ledger", to_bytes(users_text_));
  expect_untouched();
}

TEST_F(Claim, LeavesAUsersFileNamedLockAsItIs)
{
  write(root() / "lock", to_bytes("pid 12"));
  expect_untouched();
}

TEST_F(Claim, LeavesAFolderWithALedgerAndOtherFilesAsItIs)
{
  write(root() / "ledger", to_bytes(users_text_));
  write(root() / "notes", to_bytes("mine"));
  expect_untouched();
}

TEST_F(Claim, LeavesAnotherProgramsCacheAsItIs)
{
  write(root() / "CACHEDIR.TAG",
        to_bytes("Signature: 8a477f597d28d172789f06886806bc55\n# Created by another program\n"));
  write(root() / std::string(64, 'a'), to_bytes("a blob of the other program"));
  expect_untouched();
}

TEST_F(Claim, LeavesAFolderThatHoldsOnlyFoldersOrLinksAsItIs)
{
  std::filesystem::create_directory(root() / "projects");
  expect_untouched();
  std::filesystem::remove(root() / "projects");
  std::filesystem::create_symlink("/nowhere", root() / "link");
  expect_untouched();
}

TEST_F(Claim, TakesAnEmptyFolderAndOneThatAnUnfinishedClaimLeft)
{
  write(root() / "CACHEDIR.TAG.0123456789abcdef.tmp", to_bytes("Sig"));
  write(root() / "lock", {});
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(entry_of("a")));
}

TEST_F(Claim, ClearsVerifiesAndPrunesAMissingOrEmptyFolderWithoutAWord)
{
  for (auto const* doing : {"empty", "missing"}) {
    link_cache cache(settings());
    EXPECT_EQ(cache.clear().entries, 0U) << doing;
    EXPECT_EQ(cache.prune().entries, 0U) << doing;
    EXPECT_EQ(cache.verify().sound, 0U) << doing;
    std::filesystem::remove_all(root());
  }
}
