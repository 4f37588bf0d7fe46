// SPDX-License-Identifier: Apache-2.0
// The folder of a cache: whose it must be, what is in its way, how it is tended.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "cache/entry.hpp"
#include "cache/folder.hpp"
#include "cache_fixture.hpp"
#include "environment.hpp"
#include "expect_error.hpp"

using namespace fatlink;
using fixtures::ask;
using fixtures::key_of;
using fixtures::to_bytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class CacheFolder : public fixtures::cache_test {};
}  // namespace

TEST_F(CacheFolder, NeverFollowsASymbolicLink)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const elsewhere = folder_.path() / "elsewhere";
  std::filesystem::rename(entry_of("a"), elsewhere);
  std::filesystem::create_symlink(elsewhere, entry_of("a"));
  {
    link_cache cache(settings());
    EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  }
  EXPECT_FALSE(std::filesystem::is_symlink(entry_of("a")));

  std::filesystem::create_directory_symlink(root(), folder_.path() / "link");
  auto through = settings();
  for (auto const* end : {"", "/"}) {
    through.folder = (folder_.path() / "link").string() + end;
    link_cache cache(through);
    EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
    EXPECT_THAT(cache.take_warnings(),
                ElementsAre(HasSubstr("a symbolic link, which is not followed")));
  }
}

TEST_F(CacheFolder, MakesItsFolderForTheUserAlone)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  struct stat facts {};
  ASSERT_EQ(::stat(root().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat(entry_of("a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(CacheFolder, RefusesAFolderThatOthersMayWriteToAndSaysSoOnce)
{
  std::filesystem::create_directory(root());
  for (auto const mode : {0777U, 0770U, 0702U}) {
    ::chmod(root().c_str(), mode);
    link_cache cache(settings());
    EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
    EXPECT_EQ(ask(cache, "b"), cache_outcome::miss);
    EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("others may write to")));
    EXPECT_THAT(cache.take_warnings(), IsEmpty());
    EXPECT_EQ(cache.statistics().usable, false);
    EXPECT_THAT(cache.statistics().reason, HasSubstr("chmod go-w"));
    expect_error<file_error>([&] { (void)cache.prune(); }, "others may write to");
  }
  EXPECT_TRUE(std::filesystem::is_empty(root()));
}

TEST_F(CacheFolder, RefusesAFolderOfAnotherUser)
{
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make one";
  std::filesystem::create_directory(root());
  ASSERT_EQ(::chown(root().c_str(), 1234, 1234), 0);
  ::chmod(root().c_str(), 0700);
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("belongs to user 1234")));
}

TEST_F(CacheFolder, MayBeMissingFromACacheThatKeepsLinksInMemoryOnly)
{
  link_cache cache(cache_settings{});
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::hit);
  EXPECT_THAT(cache.take_warnings(), IsEmpty());
  EXPECT_EQ(cache.statistics().reason, "it has no folder: it keeps links in memory only");
  expect_error<file_error>([&] { (void)cache.verify(); }, "keeps links in memory only");
}

TEST_F(CacheFolder, ThatTheEnvironmentDoesNotNameIsAWarning)
{
  fixtures::variable const home("HOME", "");
  fixtures::variable const caches("XDG_CACHE_HOME", "");
  fixtures::variable const folder("FATLINK_CACHE_DIR", "");
  link_cache cache(default_cache_settings({}));
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("set HOME or FATLINK_CACHE_DIR")));
}

TEST_F(CacheFolder, RefusesALayerThatAnybodyMayWriteTo)
{
  auto const layer = folder_.path() / "layer";
  write_layer_entry(layer, key_of("a"), {to_bytes("poison"), {}});
  ::chmod(layer.c_str(), 0777);
  auto with = settings();
  with.layers = {layer};
  link_cache cache(with);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("others may write to")));
}

TEST_F(CacheFolder, RefusesAnEntryOfALayerThatAnybodyMayWriteTo)
{
  auto const layer = folder_.path() / "layer";
  write_layer_entry(layer, key_of("a"), {to_bytes("poison"), {}});
  ::chmod((layer / key_of("a").name()).c_str(), 0666);
  auto with = settings();
  with.layers = {layer};
  link_cache cache(with);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("others may write to")));
}

TEST_F(CacheFolder, ReplacesAnEntryThatOthersMayWriteTo)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  for (auto const mode : {0660U, 0602U}) {
    ASSERT_EQ(::chmod(entry_of("a").c_str(), mode), 0);
    link_cache cache(settings());
    EXPECT_THAT(cache.verify().damaged,
                ElementsAre(testing::Field(&damaged_entry::reason, HasSubstr("chmod go-w"))));
    EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
    EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("others may write to")));
    EXPECT_EQ(cache.verify().sound, 1U);
  }
}

TEST_F(CacheFolder, ReplacesALedgerAndALockThatOthersMayWriteTo)
{
  for (auto const* name : {"ledger", "lock"}) {
    {
      link_cache cache(settings());
      ask(cache, name);
    }
    ASSERT_EQ(::chmod((root() / name).c_str(), 0666), 0);
    link_cache cache(settings());
    EXPECT_EQ(ask(cache, std::string(name) + " again"), cache_outcome::miss);
    EXPECT_THAT(cache.take_warnings(), IsEmpty());
    struct stat facts {};
    ASSERT_EQ(::stat((root() / name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U) << name;
  }
}

TEST_F(CacheFolder, RefusesATagThatOthersMayWriteTo)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  ASSERT_EQ(::chmod((root() / "CACHEDIR.TAG").c_str(), 0666), 0);
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "b"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("CACHEDIR.TAG: run chmod go-w")));
}

TEST_F(CacheFolder, CountsAnewWhereTheLedgerIsDamaged)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  write(root() / "ledger", to_bytes("nonsense"));
  link_cache cache(settings());
  ask(cache, "b");
  EXPECT_EQ(cache.statistics().entries, 2U);
  EXPECT_EQ(cache.statistics().stored, 1U);
  EXPECT_THAT(cache.take_warnings(), IsEmpty());
}

TEST_F(CacheFolder, PrunesWhatDeadWritersLeftAndWhatIsDamaged)
{
  link_cache cache(settings());
  ask(cache, "a");
  ask(cache, "b");
  write(entry_of("b"), to_bytes("damaged"));
  write(root() / (key_of("c").name() + ".0123456789abcdef.tmp"), to_bytes("half"));
  auto const done = cache.prune();
  EXPECT_EQ(done.entries, 1U);
  EXPECT_EQ(done.orphans, 1U);
  EXPECT_EQ(done.bytes_left, std::filesystem::file_size(entry_of("a")));
  EXPECT_EQ(cache.verify().sound, 1U);
}

TEST_F(CacheFolder, LeavesOtherPeoplesFilesAlone)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  for (auto const* name : {"a-draft-of-more-than-21-letters.tmp", "notes", "CACHEDIR.TAG.x.tmp"})
    write(root() / name, to_bytes("mine"));
  link_cache cache(settings());
  EXPECT_EQ(cache.prune().orphans, 0U);
  EXPECT_EQ(cache.clear().entries, 1U);
  EXPECT_TRUE(std::filesystem::exists(root() / "a-draft-of-more-than-21-letters.tmp"));
  EXPECT_TRUE(std::filesystem::exists(root() / "notes"));
}

TEST_F(CacheFolder, DoesNotTakeAFolderThatHoldsOtherThings)
{
  std::filesystem::create_directory(root());
  ::chmod(root().c_str(), 0700);
  write(root() / std::string(64, 'a'), to_bytes("a blob of another program's"));
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(),
              ElementsAre(HasSubstr("holds files that are not the cache's")));
  EXPECT_FALSE(cache.statistics().usable);
  expect_error<file_error>([&] { (void)cache.clear(); }, "holds files that are not the cache's");
  EXPECT_TRUE(std::filesystem::exists(root() / std::string(64, 'a')));
}

TEST_F(CacheFolder, DoesNotWaitForAFifo)
{
  for (auto const* name : {"ledger", "lock"}) {
    {
      link_cache cache(settings());
      ask(cache, "a");
    }
    std::filesystem::remove(root() / name);
    ASSERT_EQ(::mkfifo((root() / name).c_str(), 0600), 0);
    link_cache cache(settings());
    EXPECT_EQ(ask(cache, name), cache_outcome::miss);
    EXPECT_THAT(cache.take_warnings(), IsEmpty());
    std::filesystem::remove(root() / name);
  }
}

TEST_F(CacheFolder, LetsGoOfALockThatAForkedChildHasToo)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const in = cache::folder::open(root(), cache::folder::kind::own);
  auto held = cache::lock::try_entry(*in, key_of("c").name());
  auto const child = ::fork();
  if (child == 0) ::pause();
  EXPECT_FALSE(cache::lock::try_entry(*in, key_of("c").name()));
  held.reset();
  EXPECT_TRUE(cache::lock::try_entry(*in, key_of("c").name()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(CacheFolder, SurvivesALimitOnTheSizeOfFiles)
{
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit const little{10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  {
    link_cache cache(settings());
    EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
    EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("File too large")));
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
}

TEST_F(CacheFolder, SaysInItsStatisticsWhyItIsNotUsed)
{
  auto below = settings();
  below.folder = "/proc/none/cache";
  link_cache cache(below);
  ask(cache, "a");
  auto const found = cache.statistics();
  EXPECT_FALSE(found.usable);
  EXPECT_THAT(found.reason, HasSubstr("/proc/none"));
}

TEST_F(CacheFolder, LeavesAloneWhatALivingWriterWrites)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const in = cache::folder::open(root(), cache::folder::kind::own);
  auto const held = cache::lock::try_entry(*in, key_of("c").name());
  ASSERT_TRUE(held);
  write(root() / (key_of("c").name() + ".0123456789abcdef.tmp"), to_bytes("half"));
  EXPECT_EQ(link_cache(settings()).prune().orphans, 0U);
}

TEST_F(CacheFolder, LinksItselfWhereAnotherProcessDoesNotGetDoneInTime)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const in = cache::folder::open(root(), cache::folder::kind::own);
  auto const held = cache::lock::try_entry(*in, key_of("c").name());
  auto impatient = settings();
  impatient.wait_limit = std::chrono::milliseconds(20);
  link_cache cache(impatient);
  EXPECT_EQ(ask(cache, "c"), cache_outcome::miss);
}
