// SPDX-License-Identifier: Apache-2.0
// What a cache serves, keeps and lets go of.
#include <sys/stat.h>

#include <atomic>
#include <future>
#include <thread>

#include "cache/entry.hpp"
#include "cache_fixture.hpp"

using namespace fatlink;
using fixtures::ask;
using fixtures::key_of;
using fixtures::to_bytes;
using testing::IsEmpty;

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
  auto const size =
      cache::encode_entry(key_of("0").parts(), {to_bytes("linked 0"), {"said of 0"}}).size();
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
