// SPDX-License-Identifier: Apache-2.0
// The folder of a cache: whose it must be, and what else may be in it or in the way.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>

#include "cache/folder.hpp"
#include "cache/ledger.hpp"
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
namespace fs = std::filesystem;

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
  std::filesystem::create_directory(root());
  if (::chown(root().c_str(), 1234, 1234) != 0)
    GTEST_SKIP() << "only root can make one, in a namespace that has this user";
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

// A folder that is not the cache's: nothing in it is written, and every command refuses it.

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

// What else may be where an entry, the lock or the ledger belongs: it is replaced or computed anew,
// never followed or waited for, and never a reason for a warning.

namespace {

void make_socket(fs::path const& name)
{
  auto const socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.string().copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
}

struct obstacle {
  char const* name;
  std::function<void(fs::path const& place, fs::path const& outside)> make;
};

/// `outside` is a file of the user's that must stay as it is.
std::vector<obstacle> obstacles()
{
  std::vector<obstacle> all{
      {"empty folder", [](fs::path const& place, fs::path const&) { create_directory(place); }},
      {"folder with a file",
       [](fs::path const& place, fs::path const&) {
         create_directory(place);
         std::ofstream(place / "kept") << "mine";
       }},
      {"dangling link",
       [](fs::path const& place, fs::path const& outside) {
         create_symlink(outside.string() + "x", place);
       }},
      {"link to a file",
       [](fs::path const& place, fs::path const& outside) { create_symlink(outside, place); }},
      {"link to a folder",
       [](fs::path const& place, fs::path const& outside) {
         create_directory_symlink(outside.parent_path(), place);
       }},
      {"loop",
       [](fs::path const& place, fs::path const&) { create_symlink(place.filename(), place); }},
      {"hard link",
       [](fs::path const& place, fs::path const& outside) { create_hard_link(outside, place); }},
      {"FIFO",
       [](fs::path const& place, fs::path const&) { EXPECT_EQ(::mkfifo(place.c_str(), 0600), 0); }},
      {"socket", [](fs::path const& place, fs::path const&) { make_socket(place); }},
      {"damaged file",
       [](fs::path const& place, fs::path const&) { std::ofstream(place) << "nonsense"; }},
      {"empty file", [](fs::path const& place, fs::path const&) { std::ofstream(place).close(); }},
      {"oversized file", [](fs::path const& place, fs::path const&) {
         std::ofstream(place) << std::string(100'000, 'x');
       }}};
  if (::geteuid() == 0)
    all.push_back({"device", [](fs::path const& place, fs::path const&) {
                     (void)::mknod(place.c_str(), S_IFCHR | 0600, makedev(1, 7));  // /dev/full
                   }});
  return all;
}

class CacheRepair : public fixtures::cache_test {
 protected:
  [[nodiscard]] fs::path outside() const { return folder_.path() / "outside" / "file"; }

  void SetUp() override
  {
    create_directory(outside().parent_path());
    write(outside(), to_bytes("the user's"));
  }

  /// With each obstacle at `place`: the next link is kept, and the one after it is served.
  void expect_repaired(fs::path const& place, bool is_entry = false)
  {
    for (auto const& [name, make] : obstacles()) {
      std::filesystem::remove_all(root());
      if (link_cache cache(settings()); true) ask(cache, "a");
      std::filesystem::remove(place);
      make(place, outside());
      auto const* const next = is_entry ? "a" : "b";
      for (auto const expected : {cache_outcome::miss, cache_outcome::hit}) {
        link_cache cache(settings());
        EXPECT_EQ(ask(cache, next), expected) << name;
        EXPECT_THAT(cache.take_warnings(), IsEmpty()) << name;
      }
      EXPECT_TRUE(is_regular_file(std::filesystem::symlink_status(place))) << name;
      auto const found = link_cache(settings()).statistics();
      EXPECT_EQ(found.faults, 0U) << name << ": " << found.last_fault;
      EXPECT_EQ(found.entries, is_entry ? 1U : 2U) << name;
      EXPECT_EQ(std::filesystem::file_size(outside()), 10U) << name << ": followed";
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(outside().parent_path()), {}), 1);
    }
  }
};

}  // namespace

TEST_F(CacheRepair, ReplacesWhatIsInTheLedgersPlace)
{
  expect_repaired(root() / "ledger");
}

TEST_F(CacheRepair, ReplacesWhatIsInTheLocksPlace)
{
  expect_repaired(root() / "lock");
}

TEST_F(CacheRepair, ReplacesWhatIsInAnEntrysPlace)
{
  expect_repaired(entry_of("a"), true);
}

TEST_F(CacheRepair, KeepsTheFilesOfAFolderThatWasInTheWay)
{
  if (link_cache cache(settings()); true) ask(cache, "a");
  std::filesystem::remove(entry_of("a"));
  create_directory(entry_of("a"));
  std::ofstream(entry_of("a") / "kept") << "mine";
  if (link_cache cache(settings()); true) ask(cache, "a");
  auto kept = 0;
  for (auto const& file : std::filesystem::recursive_directory_iterator(root()))
    kept += file.path().filename() == "kept" ? 1 : 0;
  EXPECT_EQ(kept, 1);
}

TEST_F(CacheRepair, RecountsWhereTheLedgerStatesMoreBytesThanThereCanBe)
{
  if (link_cache cache(settings()); true) ask(cache, "a");
  auto const limit = 4 * std::filesystem::file_size(entry_of("a"));
  auto const in = cache::folder::open(root(), cache::folder::kind::own);
  cache::write_ledger(*in, {.counted = true, .bytes = ~std::uint64_t{0}, .last_fault = {}});
  link_cache cache(settings(limit));
  for (auto const* text : {"b", "c", "d", "e"}) ask(cache, text);
  EXPECT_LE(cache.statistics().bytes, limit);
  EXPECT_GT(cache.statistics().evicted, 0U);
}

TEST_F(CacheRepair, EvictsEntriesFromTheFutureInTheirTurn)
{
  if (link_cache cache(settings()); true) ask(cache, "future");
  auto const size = std::filesystem::file_size(entry_of("future"));
  auto const years = std::chrono::hours(24 * 365 * 10);
  last_write_time(entry_of("future"), std::filesystem::file_time_type::clock::now() + years);
  (void)link_cache(settings()).prune();  // counts, and sees the time
  link_cache cache(settings(6 * size));
  for (auto const* text : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) ask(cache, text);
  EXPECT_FALSE(std::filesystem::exists(entry_of("future")));
  EXPECT_TRUE(std::filesystem::exists(entry_of("i")));
}

TEST_F(CacheRepair, PrunesWhatIsNoFileInTheEntriesPlaces)
{
  if (link_cache cache(settings()); true) ask(cache, "a");
  create_symlink(outside(), entry_of("b"));
  EXPECT_EQ(::mkfifo(entry_of("c").c_str(), 0600), 0);
  create_directory(entry_of("d"));
  (void)link_cache(settings()).prune();
  for (auto const* text : {"b", "c", "d"})
    EXPECT_FALSE(is_symlink(entry_of(text)) || exists(entry_of(text))) << text;
  EXPECT_TRUE(exists(entry_of("a")));
  EXPECT_TRUE(exists(outside()));
}
