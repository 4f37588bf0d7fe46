// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler_state.hpp"

#include <gmock/gmock.h>

#include "fixtures.hpp"
#include "vendor/nvjitlink.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

class RememberedIdentity : public testing::Test {
 protected:
  fixtures::folder folder_;
  std::shared_ptr<link_cache> cache_ =
      std::make_shared<link_cache>(cache_settings{.folder = folder_.path() / "cache"});

  std::optional<std::string> read(std::string const& path)
  {
    return remembering_reader(cache_)(path, nvjitlink_library());
  }
  std::uint64_t stored() { return cache_->statistics().stored; }
};

}  // namespace

TEST_F(RememberedIdentity, IsThatOfTheFile)
{
  auto const path = places::hostile_nvjitlink();
  auto const identity = nvjitlink_identity(path);
  ASSERT_TRUE(identity);
  EXPECT_EQ(remembering_reader(nullptr)(path, nvjitlink_library()), identity);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(path), identity);
  EXPECT_EQ(stored(), 1U);
}

TEST_F(RememberedIdentity, IsReadAgainForAFileThatChangedJustNow)
{
  auto const copy = folder_.path() / "copy.so";
  std::filesystem::copy_file(places::hostile_nvjitlink(), copy);
  EXPECT_EQ(read(copy), nvjitlink_identity(copy));
  EXPECT_EQ(stored(), 0U);
  (void)folder_.write("copy.so", "text");
  EXPECT_FALSE(read(copy));
}

TEST_F(RememberedIdentity, IsNoneForAnythingElse)
{
  EXPECT_FALSE(read("/nowhere/libnvJitLink.so.13"));
  EXPECT_FALSE(read("/usr"));
  EXPECT_FALSE(read("/etc/passwd"));
  EXPECT_EQ(stored(), 0U);
}
