// SPDX-License-Identifier: Apache-2.0
// What a cache of links serves, keeps and removes; its keys, entries and settings.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "cache_fixture.hpp"
#include "environment.hpp"
#include "fatlink/cache.hpp"
#include "fatlink/find_link_helper.hpp"
#include "fixtures.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using fixtures::ask;
using fixtures::key_of;
using fixtures::to_bytes;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

class LinkCache : public fixtures::cache_test {};

}  // namespace

TEST_F(LinkCache, LinksOnceAndServesFromMemoryAndFromTheFolder)
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

TEST_F(LinkCache, AddsUpFiguresOfAllProcesses)
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

TEST_F(LinkCache, KeepsNoFailure)
{
  link_cache cache(settings());
  EXPECT_THROW(cache.find_or_make(key_of("a"), []() -> link_cache::product { throw 1; }), int);
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
}

TEST_F(LinkCache, KeepsNothingThatIsNotWhatItsKeySays)
{
  link_cache cache(settings());
  auto const made = [] { return link_cache::product{{to_bytes("other"), {}}, false}; };
  EXPECT_EQ(cache.find_or_make(key_of("a"), made).link->bytes, to_bytes("other"));
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
}

TEST_F(LinkCache, GivesNobodyElseWhatIsNotToBeKept)
{
  link_cache cache(settings());
  std::atomic<bool> making = false;
  std::jthread const other([&] {
    cache.find_or_make(key_of("a"), [&]() -> link_cache::product {
      making = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return {{to_bytes("other"), {}}, false};
    });
  });
  while (!making) std::this_thread::yield();
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
}

namespace {

/// Asks `second` for a link that `first` is making, with a limit of the wait.
link_cache::result ask_meanwhile(link_cache& first, link_cache& second)
{
  std::promise<void> started;
  std::promise<void> release;
  std::jthread const other([&] {
    first.find_or_make(key_of("a"), [&]() -> link_cache::product {
      started.set_value();
      release.get_future().wait();
      return {{to_bytes("first"), {}}};
    });
  });
  started.get_future().wait();
  auto const make = [] { return link_cache::product{{to_bytes("second"), {}}}; };
  auto result = second.find_or_make(key_of("a"), make, nullptr, std::chrono::milliseconds(20));
  release.set_value();
  return result;
}

}  // namespace

TEST_F(LinkCache, MakesTheLinkWhereAnotherThreadTakesLongerThanTheWaitLimit)
{
  link_cache cache(settings());
  auto const result = ask_meanwhile(cache, cache);
  EXPECT_EQ(result.link->bytes, to_bytes("second"));
  EXPECT_EQ(result.outcome, cache_outcome::miss);
  auto const kept = cache.find_or_make(key_of("a"), []() -> link_cache::product { throw 1; });
  EXPECT_EQ(kept.link->bytes, to_bytes("first"));
}

TEST_F(LinkCache, MakesTheLinkWhereAnotherProcessTakesLongerThanTheWaitLimit)
{
  link_cache first(settings());
  link_cache second(settings());  // locks of two open files exclude each other as two processes do
  EXPECT_EQ(ask_meanwhile(first, second).link->bytes, to_bytes("second"));
}

TEST_F(LinkCache, WaitsForAnotherProcessWithTheLargestWaitLimit)
{
  auto patient = settings();
  patient.wait_limit = std::chrono::milliseconds::max();
  link_cache first(settings());
  link_cache second(patient);
  std::promise<void> started;
  std::jthread const other([&] {
    first.find_or_make(key_of("a"), [&]() -> link_cache::product {
      started.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return {{to_bytes("first"), {}}};
    });
  });
  started.get_future().wait();
  auto const make = [] { return link_cache::product{{to_bytes("second"), {}}}; };
  auto const limit = std::chrono::milliseconds::max();
  EXPECT_EQ(second.find_or_make(key_of("a"), make, nullptr, limit).link->bytes, to_bytes("first"));
}

TEST_F(LinkCache, LinksOnceForAllThreadsThatAskMeanwhile)
{
  link_cache cache(settings());
  std::atomic<int> links = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        auto const text = std::to_string(n);
        auto const got = cache.find_or_make(key_of(text), [&]() -> link_cache::product {
          ++links;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return {{to_bytes(text), {}}};
        });
        EXPECT_EQ(got.link->bytes, to_bytes(text));
      }
    });
  threads.clear();
  EXPECT_EQ(links, 50);
}

TEST_F(LinkCache, TellsEveryThreadThatWaitedOfTheFailure)
{
  link_cache cache(settings());
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      try {
        cache.find_or_make(key_of("a"), []() -> link_cache::product {
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

TEST_F(LinkCache, ForgetsFromMemoryWhatWasUsedLongestAgo)
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

TEST_F(LinkCache, SearchesReadOnlyLayersAfterTheFolder)
{
  auto const layer = folder_.path() / "layer";
  write_layer_entry(layer, key_of("a"), {to_bytes("linked a"), {"said of a"}});
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

TEST_F(LinkCache, FindsWhatIsShippedInLayersAndNotInTheFolder)
{
  auto const layer = folder_.path() / "layer";
  write_layer_entry(layer, key_of("a"), {to_bytes("linked a"), {"said of a"}});
  auto with = settings();
  with.layers = {folder_.path() / "none", layer};
  {
    link_cache cache(with);
    ask(cache, "b");
    for (int times = 0; times < 2; ++times) {
      auto const found = cache.find_shipped(key_of("a"));
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->bytes, to_bytes("linked a"));
    }
  }
  link_cache cache(with);
  EXPECT_EQ(cache.find_shipped(key_of("b")), nullptr);
  EXPECT_EQ(cache.statistics().hits, 2U);
  EXPECT_EQ(cache.statistics().misses, 1U);
  EXPECT_EQ(link_cache(settings()).find_shipped(key_of("a")), nullptr);
}

TEST_F(LinkCache, EvictsWhatWasUsedLongestAgoAndStaysWithinItsLimit)
{
  auto const layer = folder_.path() / "layer";
  write_layer_entry(layer, key_of("0"), {to_bytes("linked 0"), {"said of 0"}});
  auto const size = std::filesystem::file_size(layer / key_of("0").name());
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

TEST_F(LinkCache, DoesNotKeepWhatIsLargerThanItsLimit)
{
  link_cache cache(settings(10));
  EXPECT_EQ(ask(cache, "a"), cache_outcome::miss);
  EXPECT_EQ(cache.statistics().entries, 0U);
  EXPECT_THAT(cache.take_warnings(), IsEmpty());
}

TEST_F(LinkCache, ClearsEveryEntryAndFigure)
{
  link_cache cache(settings());
  ask(cache, "a");
  ask(cache, "b");
  EXPECT_EQ(cache.clear().entries, 2U);
  auto const found = cache.statistics();
  EXPECT_EQ(found.entries + found.bytes + found.stored, 0U);
}

// Keys, and entries sound and damaged.

namespace {

class CacheEntry : public fixtures::cache_test {};
class CacheDamage : public fixtures::cache_test {};

byte_buffer bytes_in(std::filesystem::path const& path)
{
  std::ifstream file(path, std::ios::binary);
  return to_bytes(std::string{std::istreambuf_iterator<char>(file), {}});
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

TEST_F(CacheEntry, HoldsWhatWasPutInAndIsTheSameEveryTime)
{
  cached_link const link{to_bytes("cubin"), {"one", ""}};
  auto const layer = folder_.path() / "layer", again = folder_.path() / "again";
  for (auto const& folder : {layer, again}) write_layer_entry(folder, key_of("a"), link);
  EXPECT_EQ(bytes_in(layer / key_of("a").name()), bytes_in(again / key_of("a").name()));
  auto with = settings();
  with.layers = {layer};
  auto const found = link_cache(with).find_shipped(key_of("a"));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->bytes, link.bytes);
  EXPECT_EQ(found->warnings, link.warnings);
  EXPECT_EQ(link_cache(with).find_shipped(key_of("b")), nullptr);
}

TEST_F(CacheEntry, OfAnotherVersionOrWithMoreInItIsNone)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto content = bytes_in(entry_of("a"));
  auto const refusal_of = [&](byte_buffer const& bytes) {
    write(entry_of("a"), bytes);
    auto const found = link_cache(settings()).verify();
    return found.damaged.size() == 1 ? found.damaged[0].reason : "no damage";
  };
  auto const with_check = [](byte_buffer bytes) {
    auto const check = detail::sha256(bytes);
    bytes.insert(bytes.end(), check.begin(), check.end());
    return bytes;
  };
  content.resize(content.size() - std::tuple_size_v<digest256>);
  auto newer = content;
  newer[4] = std::byte{2};
  EXPECT_EQ(refusal_of(with_check(newer)), "its version, 2, is not supported");
  newer[0] = std::byte{0};
  EXPECT_EQ(refusal_of(with_check(newer)), "it is not a cache entry");
  content.resize(content.size() + 1);
  EXPECT_EQ(refusal_of(with_check(content)), "bytes are left after the end");
  EXPECT_EQ(refusal_of({}), "it is truncated");
}

TEST_F(CacheDamage, TakesEveryDamageForAMissAndMendsIt)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const good = bytes_in(entry_of("a"));
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

TEST_F(CacheDamage, TakesTheEntryOfAnotherKeyForAMiss)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  std::filesystem::rename(entry_of("a"), entry_of("b"));
  auto const found = link_cache(settings()).verify();
  ASSERT_EQ(found.damaged.size(), 1U);
  EXPECT_EQ(found.damaged[0].reason, "it holds the entry of another key");
  link_cache cache(settings());
  EXPECT_EQ(ask(cache, "b"), cache_outcome::miss);
}

// The settings of a cache that the environment and the installation state.

namespace {

std::string environment_of(char const* folder_variable, char const* value)
{
  for (auto const* name : {"FATLINK_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(name);
  if (folder_variable != nullptr) ::setenv(folder_variable, value, 1);
  return default_cache_settings().folder.string();
}

}  // namespace

TEST(CacheSettings, HaveALayerInEveryFolderThatNamesAreSearchedIn)
{
  fixtures::folder const folder;
  std::filesystem::create_directory(folder.path() / "cache");
  fixtures::variable const search("FATLINK_PATH", folder.path().string());
  EXPECT_THAT(default_cache_settings().layers, Contains(folder.path() / "cache"));
}

TEST(CacheSettings, HaveTheLayerOfTheStatedHelpersInstallation)
{
  fixtures::folder const prefix;
  auto const layer = prefix.path() / "share/fatlink/cache";
  std::filesystem::create_directories(layer);
  EXPECT_THAT(default_cache_settings().layers, Not(Contains(layer)));
  set_default_link_helper(prefix.path() / "libexec/fatlink-linkd");
  EXPECT_THAT(default_cache_settings().layers, Contains(layer));
  set_default_link_helper({});
}

TEST(CacheSettings, FollowTheEnvironment)
{
  EXPECT_EQ(environment_of("FATLINK_CACHE_DIR", "/x/c"), "/x/c");
  EXPECT_EQ(environment_of("XDG_CACHE_HOME", "/x"), "/x/fatlink");
  EXPECT_EQ(environment_of("XDG_CACHE_HOME", "relative"), "");
  EXPECT_EQ(environment_of("HOME", "/h"), "/h/.cache/fatlink");
  EXPECT_EQ(environment_of(nullptr, nullptr), "");
  ::setenv("FATLINK_SYSTEM_CACHE", "/a::/b", 1);
  EXPECT_THAT(default_cache_settings({"/nowhere", "/tmp"}).layers, ElementsAre("/a", "/b"));
  ::setenv("FATLINK_SYSTEM_CACHE", "", 1);
  EXPECT_THAT(default_cache_settings({"/tmp"}).layers, ElementsAre());
  ::unsetenv("FATLINK_SYSTEM_CACHE");
  EXPECT_THAT(default_cache_settings({"/nowhere", "/tmp"}).layers, ElementsAre("/tmp"));
  ::setenv("FATLINK_CACHE_LIMIT", "3Mi", 1);
  EXPECT_EQ(default_cache_settings().folder_limit, 3U << 20U);
  ::setenv("FATLINK_CACHE_LIMIT", "3M", 1);
  EXPECT_EQ(default_cache_settings().folder_limit, 3000000U);
  ::setenv("FATLINK_CACHE_DIR", "/x/c", 1);
  for (auto const* wrong : {"", "0", "3T", "M", "-1", "3MM"}) {
    ::setenv("FATLINK_CACHE_LIMIT", wrong, 1);
    auto const found = default_cache_settings();
    EXPECT_EQ(found.folder_limit, std::uint64_t{1} << 30U);
    if (*wrong == '\0')
      EXPECT_THAT(found.warnings, IsEmpty());
    else
      EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("is not a whole number of bytes")));
  }
  ::unsetenv("FATLINK_CACHE_LIMIT");
  ::unsetenv("FATLINK_CACHE_DIR");
}
