// SPDX-License-Identifier: Apache-2.0
#include "fatlink/cache.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "cache/entry.hpp"
#include "cache/lock.hpp"
#include "detail/sha256.hpp"
#include "expect_error.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

byte_buffer bytes_of(std::string_view text)
{
  auto const* const begin = reinterpret_cast<std::byte const*>(text.data());
  return {begin, begin + text.size()};
}

cache_key key_of(std::string const& text)
{
  return cache_key().add("test", text);
}

/// Asks for `text`, whose link is "linked <text>"; says how often it was linked.
cache_outcome ask(link_cache& cache, std::string const& text, int* links = nullptr)
{
  auto const got = cache.find_or_make(key_of(text), [&]() -> link_cache::made {
    if (links != nullptr) ++*links;
    return {{bytes_of("linked " + text), {"said of " + text}}};
  });
  EXPECT_EQ(got.link->bytes, bytes_of("linked " + text));
  EXPECT_THAT(got.link->warnings, ElementsAre("said of " + text));
  return got.outcome;
}

class Cache : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "cache"; }
  [[nodiscard]] cache_settings settings(std::uint64_t limit = 1 << 20) const
  {
    cache_settings found;
    found.folder = root();
    found.folder_limit = limit;
    return found;
  }
  [[nodiscard]] std::filesystem::path entry_of(std::string const& text) const
  {
    return root() / key_of(text).name();
  }
  void write(std::filesystem::path const& file, byte_buffer const& bytes) const
  {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  fixtures::folder folder_;
};

std::string environment_of(char const* folder_variable, char const* value)
{
  for (auto const* name : {"FATLINK_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(name);
  if (folder_variable != nullptr) ::setenv(folder_variable, value, 1);
  return default_cache_settings().folder.string();
}

}  // namespace

TEST(CacheKey, TellsPartsFromEachOtherWhateverTheyHold)
{
  EXPECT_EQ(cache_key().add("a", "bc").parts(), "a:2:bc\n");
  EXPECT_NE(cache_key().add("a", "b\na:1:c").name(),
            cache_key().add("a", "b").add("a", "c").name());
  EXPECT_NE(cache_key().add("a", "").name(), cache_key().name());
  EXPECT_EQ(cache_key().add("a", "b").name().size(), 64U);
}

TEST(CacheEntry, HoldsWhatWasPutInAndIsTheSameEveryTime)
{
  cached_link const link{bytes_of("cubin"), {"one", ""}};
  auto const bytes = cache::encode_entry("parts", link);
  EXPECT_EQ(bytes, cache::encode_entry("parts", link));
  std::string why;
  auto const entry = cache::decode_entry(bytes, why);
  ASSERT_TRUE(entry) << why;
  EXPECT_EQ(entry->parts, "parts");
  EXPECT_EQ(entry->link.bytes, link.bytes);
  EXPECT_EQ(entry->link.warnings, link.warnings);
}

TEST(CacheEntry, OfAnotherVersionOrWithMoreInItIsNone)
{
  auto const refusal_of = [](byte_buffer content) {
    auto const check = detail::sha256(content);
    content.insert(content.end(), check.begin(), check.end());
    std::string why;
    EXPECT_FALSE(cache::decode_entry(content, why));
    return why;
  };
  auto content = cache::encode_entry("parts", {});
  content.resize(content.size() - std::tuple_size_v<digest256>);
  auto newer = content;
  newer[4] = std::byte{cache::k_entry_version + 1};
  EXPECT_EQ(refusal_of(newer), "is of version 2");
  newer[0] = std::byte{0};
  EXPECT_EQ(refusal_of(newer), "is no cache entry");
  content.resize(content.size() + 1);
  EXPECT_EQ(refusal_of(content), "bytes are left after the end");
  std::string why;
  EXPECT_FALSE(cache::decode_entry({}, why));
  EXPECT_EQ(why, "is too short");
}

TEST_F(Cache, LinksOnceAndServesFromMemoryAndFromTheFolder)
{
  int links = 0;
  {
    link_cache cache(settings());
    EXPECT_EQ(ask(cache, "a", &links), cache_outcome::miss);
    EXPECT_EQ(ask(cache, "a", &links), cache_outcome::hit);
    EXPECT_EQ(ask(cache, "b", &links), cache_outcome::miss);
  }
  link_cache another(settings());
  EXPECT_EQ(ask(another, "a", &links), cache_outcome::hit);
  EXPECT_EQ(links, 2);
  EXPECT_THAT(another.take_warnings(), IsEmpty());
}

TEST_F(Cache, AddsUpFiguresOfAllProcesses)
{
  for (int i = 0; i < 3; ++i) {
    link_cache cache(settings());
    ask(cache, "a");
    ask(cache, "a");
  }
  auto const found = link_cache(settings()).statistics();
  EXPECT_TRUE(found.usable);
  EXPECT_EQ(found.entries, 1U);
  EXPECT_EQ(found.bytes, std::filesystem::file_size(entry_of("a")));
  EXPECT_EQ(found.misses, 1U);
  EXPECT_EQ(found.hits, 5U);
  EXPECT_EQ(found.stored, 1U);
  EXPECT_EQ(found.faults, 0U);
}

TEST_F(Cache, KeepsNoFailure)
{
  link_cache cache(settings());
  EXPECT_THROW(cache.find_or_make(key_of("a"), []() -> link_cache::made { throw 1; }), int);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
}

TEST_F(Cache, KeepsNothingThatIsNotWhatItsKeySays)
{
  link_cache cache(settings());
  auto const made = [] { return link_cache::made{{bytes_of("other"), {}}, false}; };
  EXPECT_EQ(cache.find_or_make(key_of("a"), made).link->bytes, bytes_of("other"));
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
}

TEST_F(Cache, GivesNobodyElseWhatIsNotToBeKept)
{
  link_cache cache(settings());
  std::atomic<bool> making = false;
  std::jthread const other([&] {
    cache.find_or_make(key_of("a"), [&]() -> link_cache::made {
      making = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return {{bytes_of("other"), {}}, false};
    });
  });
  while (!making) std::this_thread::yield();
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
}

TEST_F(Cache, LinksOnceForAllThreadsThatAskMeanwhile)
{
  link_cache cache(settings());
  std::atomic<int> links = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        auto const text = std::to_string(n);
        auto const got = cache.find_or_make(key_of(text), [&]() -> link_cache::made {
          ++links;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return {{bytes_of(text), {}}};
        });
        EXPECT_EQ(got.link->bytes, bytes_of(text));
      }
    });
  threads.clear();
  EXPECT_EQ(links, 50);
}

TEST_F(Cache, TellsEveryThreadThatWaitedOfTheFailure)
{
  link_cache cache(settings());
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      try {
        cache.find_or_make(key_of("a"), []() -> link_cache::made {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          throw std::runtime_error("failed");
        });
      } catch (std::runtime_error const&) {
        ++failures;
      }
    });
  threads.clear();
  EXPECT_EQ(failures, 4);
}

TEST_F(Cache, ForgetsFromMemoryWhatWasUsedLongestAgo)
{
  auto small = settings();
  small.folder.clear();
  small.memory_limit = 150;
  link_cache cache(small);
  // Three fit; "a" was used again.
  for (auto const* text : {"a", "b", "c", "a", "d"}) ask(cache, text);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::hit);
  EXPECT_EQ(ask(cache, "b"), cache_outcome::miss);
}

TEST_F(Cache, TakesEveryDamageForAMissAndMendsIt)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const good = [&] {
    std::ifstream file(entry_of("a"), std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    return bytes_of(text);
  }();
  auto const heals = [&](byte_buffer const& bad, std::string const& what) {
    write(entry_of("a"), bad);
    {
      link_cache cache(settings());
      EXPECT_EQ(ask(cache, "a"), cache_outcome::miss) << what;
    }
    link_cache cache(settings());
    EXPECT_EQ(ask(cache, "a"), cache_outcome::hit) << what;
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= std::byte{1};
    heals(bad, "flipped byte " + std::to_string(i));
    heals({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)},
          "kept " + std::to_string(i));
  }
  heals(
      [&] {
        auto longer = good;
        longer.push_back(std::byte{0});
        return longer;
      }(),
      "longer");
}

TEST_F(Cache, TakesTheEntryOfAnotherKeyForAMiss)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  std::filesystem::rename(entry_of("a"), entry_of("b"));
  auto const found = link_cache(settings()).verify();
  ASSERT_EQ(found.damaged.size(), 1U);
  EXPECT_EQ(found.damaged[0].why, "is the entry of another name");
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "b"), cache_outcome::miss);
}

TEST_F(Cache, NeverFollowsASymbolicLink)
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

TEST_F(Cache, MakesItsFolderForTheUserAlone)
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

TEST_F(Cache, RefusesAFolderThatOthersMayWriteToAndSaysSoOnce)
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
    EXPECT_THAT(cache.statistics().why_not, HasSubstr("chmod go-w"));
    expect_error<file_error>([&] { (void)cache.prune(); }, "others may write to");
  }
  EXPECT_TRUE(std::filesystem::is_empty(root()));
}

TEST_F(Cache, RefusesAFolderOfAnotherUser)
{
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make one";
  std::filesystem::create_directory(root());
  ASSERT_EQ(::chown(root().c_str(), 1234, 1234), 0);
  ::chmod(root().c_str(), 0700);
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("belongs to user 1234")));
}

TEST_F(Cache, DoesWithoutAnyFolder)
{
  auto none = settings();
  none.folder.clear();
  link_cache cache(none);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::hit);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("set HOME, or FATLINK_CACHE_DIR")));
}

TEST_F(Cache, SearchesReadOnlyLayersAfterTheFolder)
{
  auto const layer = folder_.path() / "layer";
  write_layer_entry(layer, key_of("a"), {bytes_of("linked a"), {"said of a"}});
  auto with = settings();
  with.layers = {folder_.path() / "none", layer};
  link_cache cache(with);
  int links = 0;
  EXPECT_EQ(ask(cache, "a", &links), cache_outcome::hit);
  EXPECT_EQ(links, 0);
  EXPECT_FALSE(std::filesystem::exists(entry_of("a")));
  struct stat facts {};
  ASSERT_EQ(::stat((layer / key_of("a").name()).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0644U);
}

TEST_F(Cache, RefusesALayerThatAnybodyMayWriteTo)
{
  auto const layer = folder_.path() / "layer";
  write_layer_entry(layer, key_of("a"), {bytes_of("poison"), {}});
  ::chmod(layer.c_str(), 0777);
  auto with = settings();
  with.layers = {layer};
  link_cache cache(with);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(), ElementsAre(HasSubstr("others may write to")));
}

TEST_F(Cache, EvictsWhatWasUsedLongestAgoAndStaysWithinItsLimit)
{
  auto const size =
      cache::encode_entry(key_of("0").parts(), {bytes_of("linked 0"), {"said of 0"}}).size();
  link_cache cache(settings(10 * size));
  for (int i = 0; i < 9; ++i) ask(cache, std::to_string(i));
  {
    link_cache reader(settings(10 * size));
    EXPECT_EQ(ask(reader, "0"), cache_outcome::hit);
  }
  ask(cache, "a");
  ask(cache, "b");
  auto const found = cache.statistics();
  EXPECT_LE(found.bytes, 10 * size);
  EXPECT_GT(found.evicted, 0U);
  EXPECT_TRUE(std::filesystem::exists(entry_of("0")));
  EXPECT_FALSE(std::filesystem::exists(entry_of("1")));
  EXPECT_TRUE(std::filesystem::exists(entry_of("b")));
}

TEST_F(Cache, DoesNotKeepWhatIsLargerThanItsLimit)
{
  link_cache cache(settings(10));
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_EQ(cache.statistics().entries, 0U);
  EXPECT_THAT(cache.take_warnings(), IsEmpty());
}

TEST_F(Cache, CountsAnewWhereTheLedgerIsDamaged)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  write(root() / "ledger", bytes_of("nonsense"));
  link_cache cache(settings());
  ask(cache, "b");
  EXPECT_EQ(cache.statistics().entries, 2U);
  EXPECT_EQ(cache.statistics().stored, 1U);
  EXPECT_THAT(cache.take_warnings(), IsEmpty());
}

TEST_F(Cache, PrunesWhatDeadWritersLeftAndWhatIsDamaged)
{
  link_cache cache(settings());
  ask(cache, "a");
  ask(cache, "b");
  write(entry_of("b"), bytes_of("damaged"));
  write(root() / (key_of("c").name() + ".0123456789abcdef.tmp"), bytes_of("half"));
  auto const done = cache.prune();
  EXPECT_EQ(done.entries, 1U);
  EXPECT_EQ(done.orphans, 1U);
  EXPECT_EQ(done.bytes_left, std::filesystem::file_size(entry_of("a")));
  EXPECT_EQ(cache.verify().sound, 1U);
}

TEST_F(Cache, LeavesOtherPeoplesFilesAlone)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  for (auto const* name : {"a-draft-of-more-than-21-letters.tmp", "notes", "CACHEDIR.TAG.x.tmp"})
    write(root() / name, bytes_of("mine"));
  link_cache cache(settings());
  EXPECT_EQ(cache.prune().orphans, 0U);
  EXPECT_EQ(cache.clear().entries, 1U);
  EXPECT_TRUE(std::filesystem::exists(root() / "a-draft-of-more-than-21-letters.tmp"));
  EXPECT_TRUE(std::filesystem::exists(root() / "notes"));
}

TEST_F(Cache, DoesNotTakeAFolderThatHoldsOtherThings)
{
  std::filesystem::create_directory(root());
  ::chmod(root().c_str(), 0700);
  write(root() / std::string(64, 'a'), bytes_of("a blob of another program's"));
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_THAT(cache.take_warnings(),
              ElementsAre(HasSubstr("holds files that are not the cache's")));
  EXPECT_FALSE(cache.statistics().usable);
  EXPECT_EQ(cache.clear().entries, 0U);
  EXPECT_TRUE(std::filesystem::exists(root() / std::string(64, 'a')));
}

TEST_F(Cache, DoesNotWaitForAFifo)
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
    EXPECT_EQ(cache.take_warnings().size(), std::string(name) == "ledger" ? 1U : 0U);
    std::filesystem::remove(root() / name);
  }
}

TEST_F(Cache, LetsGoOfALockThatAForkedChildHasToo)
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

TEST_F(Cache, SurvivesALimitOnTheSizeOfFiles)
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

TEST_F(Cache, SaysInItsStatisticsWhyItIsNotUsed)
{
  auto below = settings();
  below.folder = "/proc/none/cache";
  link_cache cache(below);
  ask(cache, "a");
  auto const found = cache.statistics();
  EXPECT_FALSE(found.usable);
  EXPECT_THAT(found.why_not, HasSubstr("/proc/none"));
}

TEST_F(Cache, LeavesAloneWhatALivingWriterWrites)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const in = cache::folder::open(root(), cache::folder::kind::own);
  auto const held = cache::lock::try_entry(*in, key_of("c").name());
  ASSERT_TRUE(held);
  write(root() / (key_of("c").name() + ".0123456789abcdef.tmp"), bytes_of("half"));
  EXPECT_EQ(link_cache(settings()).prune().orphans, 0U);
}

TEST_F(Cache, LinksItselfWhereAnotherProcessDoesNotGetDoneInTime)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const in = cache::folder::open(root(), cache::folder::kind::own);
  auto const held = cache::lock::try_entry(*in, key_of("c").name());
  auto impatient = settings();
  impatient.patience = std::chrono::milliseconds(20);
  link_cache cache(impatient);
  EXPECT_EQ(ask(cache, "c"), cache_outcome::miss);
}

TEST_F(Cache, ClearsEveryEntryAndFigure)
{
  link_cache cache(settings());
  ask(cache, "a");
  ask(cache, "b");
  EXPECT_EQ(cache.clear().entries, 2U);
  auto const found = cache.statistics();
  EXPECT_EQ(found.entries + found.bytes + found.stored, 0U);
}

TEST(CacheSettings, FollowTheEnvironment)
{
  EXPECT_EQ(environment_of("FATLINK_CACHE_DIR", "/x/c"), "/x/c");
  EXPECT_EQ(environment_of("XDG_CACHE_HOME", "/x"), "/x/fatlink");
  EXPECT_EQ(environment_of("XDG_CACHE_HOME", "relative"), "");
  EXPECT_EQ(environment_of("HOME", "/h"), "/h/.cache/fatlink");
  EXPECT_EQ(environment_of(nullptr, nullptr), "");
  ::setenv("FATLINK_SYSTEM_CACHE", "/a::/b", 1);
  EXPECT_THAT(default_cache_settings("/nowhere").layers, ElementsAre("/a", "/b"));
  EXPECT_THAT(default_cache_settings("/tmp").layers, ElementsAre("/a", "/b", "/tmp"));
  ::unsetenv("FATLINK_SYSTEM_CACHE");
  ::setenv("FATLINK_CACHE_LIMIT", "3M", 1);
  EXPECT_EQ(default_cache_settings().folder_limit, 3U << 20U);
  for (auto const* wrong : {"", "0", "3T", "M", "-1", "3MM"}) {
    ::setenv("FATLINK_CACHE_LIMIT", wrong, 1);
    if (*wrong != '\0')
      expect_error<usage_error>([] { (void)default_cache_settings(); }, "is no size");
  }
  ::unsetenv("FATLINK_CACHE_LIMIT");
}
