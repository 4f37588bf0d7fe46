// SPDX-License-Identifier: Apache-2.0
#include "vendor/nvjitlink.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "fixtures.hpp"
#include "vendor/vendor_library.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

/// An ld.so.cache of one entry, as glibc 2.36 writes it.
byte_buffer loader_cache(std::string const& name, std::string const& path)
{
  std::string text("glibc-ld.so.cache1.1");
  auto const number = [&](auto value) {
    text.append(reinterpret_cast<char const*>(&value), sizeof value);
  };
  constexpr std::uint32_t k_strings = 48 + 24;
  number(std::uint32_t{1});
  number(static_cast<std::uint32_t>(name.size() + path.size() + 2));
  text.resize(48);
  number(std::int32_t{0x0303});
  number(k_strings);
  number(static_cast<std::uint32_t>(k_strings + name.size() + 1));
  number(std::uint32_t{0});
  number(std::uint64_t{0});
  text += name + '\0' + path + '\0';
  auto const* const begin = reinterpret_cast<std::byte const*>(text.data());
  return {begin, begin + text.size()};
}

}  // namespace

TEST(NvjitlinkIdentity, IsNoNvjitlinkWhereItIsAnythingElse)
{
  fixtures::folder const folder;
  EXPECT_FALSE(nvjitlink_identity("/nowhere/libnvJitLink.so.13"));
  EXPECT_FALSE(nvjitlink_identity(folder.path().string()));
  EXPECT_FALSE(nvjitlink_identity(folder.write("empty", "")));
  EXPECT_FALSE(nvjitlink_identity(folder.write("text", std::string(4096, 'x'))));
  EXPECT_FALSE(nvjitlink_identity("/proc/self/exe"));
}

TEST(NvjitlinkIdentity, IsTheSameWhereverItLiesAndAnotherWhereItsBytesAre)
{
  fixtures::folder const folder;
  auto const original = nvjitlink_identity(places::hostile_nvjitlink());
  ASSERT_TRUE(original);
  EXPECT_THAT(*original, testing::StartsWith("13.? "));
  auto const copy = folder.path() / "copy.so";
  std::filesystem::copy_file(places::hostile_nvjitlink(), copy);
  EXPECT_EQ(nvjitlink_identity(copy), original);
  std::ofstream(copy, std::ios::app) << 'x';
  EXPECT_NE(nvjitlink_identity(copy), original);
}

TEST(NvjitlinkIdentity, DamagedIsNoneOrAnotherAndNeverACrash)
{
  fixtures::folder const folder;
  std::ifstream file(places::hostile_nvjitlink(), std::ios::binary);
  std::string const whole{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t i = 0; i < 1024; ++i) {
    auto damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    (void)nvjitlink_identity(folder.write("damaged", damaged));
    EXPECT_NE(nvjitlink_identity(folder.write("short", whole.substr(0, i))),
              nvjitlink_identity(places::hostile_nvjitlink()));
  }
}

TEST(FindByLoader, FindsWhatDlopenWould)
{
  for (auto const* name : {"libz.so.1", "libzstd.so.1", "libc.so.6", "libcrypt.so.1"}) {
    std::string why;
    auto const before = find_by_loader(name);
    auto const opened = shared_library::open(name, why);
    if (!opened) continue;
    ASSERT_TRUE(before) << name;
    EXPECT_EQ(std::filesystem::canonical(*before), opened.path());
  }
  EXPECT_FALSE(find_by_loader("libthere-is-none.so.1"));
}

TEST(FindByLoader, ReadsTheLoadersCache)
{
  auto const cache = loader_cache("liba.so.1", "/x/liba.so.1");
  EXPECT_EQ(find_in_loader_cache(cache, "liba.so.1"), "/x/liba.so.1");
  EXPECT_FALSE(find_in_loader_cache(cache, "libb.so.1"));
  for (std::size_t n = 0; n < cache.size() - 22; ++n)
    EXPECT_FALSE(find_in_loader_cache(bytes_view(cache).first(n), "liba.so.1")) << "kept " << n;
}
