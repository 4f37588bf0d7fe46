// SPDX-License-Identifier: Apache-2.0
// The settings of a cache that the environment and the installation state.
#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "environment.hpp"
#include "fatlink/cache.hpp"
#include "fatlink/find_link_helper.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
