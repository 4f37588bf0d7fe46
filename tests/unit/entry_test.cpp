// SPDX-License-Identifier: Apache-2.0
// Keys, and entries sound and damaged.
#include "cache/entry.hpp"

#include "cache_fixture.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using fixtures::ask;
using fixtures::to_bytes;

namespace {

class CacheDamage : public fixtures::cache_test {};

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
  cached_link const link{to_bytes("cubin"), {"one", ""}};
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
  EXPECT_EQ(refusal_of(newer), "its version, 2, is not supported");
  newer[0] = std::byte{0};
  EXPECT_EQ(refusal_of(newer), "it is not a cache entry");
  content.resize(content.size() + 1);
  EXPECT_EQ(refusal_of(content), "bytes are left after the end");
  std::string why;
  EXPECT_FALSE(cache::decode_entry({}, why));
  EXPECT_EQ(why, "it is truncated");
}

TEST_F(CacheDamage, TakesEveryDamageForAMissAndMendsIt)
{
  {
    link_cache cache(settings());
    ask(cache, "a");
  }
  auto const good = [&] {
    std::ifstream file(entry_of("a"), std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    return to_bytes(text);
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
