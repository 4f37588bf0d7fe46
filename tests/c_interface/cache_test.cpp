// SPDX-License-Identifier: Apache-2.0
// Caches of the C interface; link_test.cpp links with one.
#include "fatlink/cache.hpp"
#include "c_interface_fixture.hpp"
#include "fixtures.hpp"

using fixtures::c_cache;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

TEST(CCache, MayBeInMemoryOnly)
{
  fatlink_cache_settings settings = {};
  settings.size = sizeof settings;
  settings.folder = "";
  c_cache cache;
  succeed(fatlink_cache_open(&settings, result_of(cache)));
  EXPECT_STREQ(fatlink_cache_folder(cache.get()), "");
  fail(fatlink_cache_clear(cache.get()), FATLINK_ERROR_FILE, "folder");
}

TEST(CCache, HasTheProgramsFolderByDefault)
{
  c_cache cache;
  succeed(fatlink_cache_open(nullptr, result_of(cache)));
  EXPECT_EQ(fatlink_cache_folder(cache.get()), fatlink::default_cache_settings().folder.string());
}

TEST(CCache, HasTheStatedLimit)
{
  fixtures::folder const folder;
  auto const path = (folder.path() / "cache").string();
  fatlink_cache_settings settings = {};
  settings.size = sizeof settings;
  settings.folder = path.c_str();
  settings.folder_limit = 12345;
  c_cache cache;
  succeed(fatlink_cache_open(&settings, result_of(cache)));
  fatlink_cache_statistics statistics = {};
  statistics.size = sizeof statistics;
  succeed(fatlink_cache_get_statistics(cache.get(), &statistics));
  EXPECT_EQ(statistics.limit, 12345U);
}

TEST(CCache, RefusesNull)
{
  fatlink_cache_statistics statistics = {};
  statistics.size = sizeof statistics;
  fail_usage(fatlink_cache_open(nullptr, nullptr), "cache is NULL");
  fail_usage(fatlink_cache_get_statistics(nullptr, &statistics), "cache is NULL");
  fail_usage(fatlink_cache_prune(nullptr), "cache is NULL");
  fail_usage(fatlink_cache_clear(nullptr), "cache is NULL");
  EXPECT_STREQ(fatlink_cache_folder(nullptr), "");
  fatlink_cache_free(nullptr);
}
