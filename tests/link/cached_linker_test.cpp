// SPDX-License-Identifier: Apache-2.0
// The linker with a cache, over real nvJitLink.
#include <gmock/gmock.h>

#include "cache/entry.hpp"
#include "environment.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "link_helper/helper_pool.hpp"
#include "needs_nvjitlink.hpp"
#include "sanitizers.hpp"
#include "shipped_links.hpp"

using namespace fatlink;
using fixtures::library_and_transform;
using fixtures::lto;

namespace {

class Nvjitlink : public fixtures::needs_nvjitlink {};

class CachedLinker : public fixtures::needs_nvjitlink {
 protected:
  [[nodiscard]] linker cached(isolation where = isolation::in_process) const
  {
    cache_settings settings;
    settings.folder = folder_.path() / "cache";
    return linker({.isolation = where, .cache = std::make_shared<link_cache>(settings)});
  }
  fixtures::folder folder_;
};

/// Names an nvJitLink while it lives.
class named_nvjitlink {
 public:
  explicit named_nvjitlink(std::string const& file) : named_("FATLINK_NVJITLINK", file) {}
  ~named_nvjitlink() { detail::end_idle_helpers(); }
  named_nvjitlink(named_nvjitlink const&) = delete;
  named_nvjitlink& operator=(named_nvjitlink const&) = delete;

 private:
  fixtures::variable named_;
};

}  // namespace

TEST_F(Nvjitlink, IsLocatedWithoutBeingOpened)
{
  auto const located = nvjitlink::locate();
  ASSERT_TRUE(located);
  auto const opened = nvjitlink::open();
  EXPECT_EQ(std::filesystem::canonical(located->path), opened->path());
  EXPECT_EQ(located->identity, opened->identity());
  EXPECT_EQ(located->reason, opened->reason());
  EXPECT_THAT(located->identity,
              testing::StartsWith("13." + std::to_string(opened->minor()) + " "));
}

TEST_F(Nvjitlink, ThatIsNamedIsOpenedOrAnError)
{
  EXPECT_EQ(nvjitlink::open(nvjitlink::locate()->path)->path(), nvjitlink::open()->path());
  EXPECT_THROW(nvjitlink::open("/nowhere.so"), unavailable_error);
}

TEST_F(CachedLinker, ServesWhatTheHelperMadeToOtherProcessesWhicheverWayTheyLink)
{
  auto const first = cached(isolation::helper).link(library_and_transform(), lto());
  EXPECT_EQ(first.cache, cache_outcome::miss);
  for (auto const where : {isolation::helper, isolation::in_process}) {
    auto const again = cached(where).link(library_and_transform(), lto());
    EXPECT_EQ(again.cache, cache_outcome::hit);
    EXPECT_EQ(again.bytes, first.bytes);
    EXPECT_TRUE(again.inlined());
    EXPECT_EQ(again.link_ms, 0);
  }
}

TEST_F(CachedLinker, TakesNoEntryWithAnyByteFlippedOrMissing)
{
  auto const image = cached().link(library_and_transform(), lto());
  auto const good = cache::encode_entry(link_key(library_and_transform(), lto(), "13.0").parts(),
                                        {image.bytes, {}});
  std::string why;
  ASSERT_TRUE(cache::decode_entry(good, why));
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= std::byte{0x40};
    EXPECT_FALSE(cache::decode_entry(bad, why)) << "flipped byte " << i;
    EXPECT_FALSE(cache::decode_entry(bytes_view(good).first(i), why)) << "kept " << i;
  }
}

TEST_F(CachedLinker, JudgesTheInputsBeforeItAsks)
{
  auto with = cached();
  (void)with.link(library_and_transform(), lto());
  auto other = lto();
  other.kernels = {"nope"};
  EXPECT_THROW(with.link(library_and_transform(), other), refused_error);
}

TEST_F(CachedLinker, KeepsNothingThatAnotherNvjitlinkLinked)
{
  auto const copy = folder_.path() / "libnvJitLink.so.13";
  std::filesystem::copy_file(nvjitlink::locate()->path, copy);
  std::ofstream(copy, std::ios::app) << 'x';
  (void)nvjitlink::open();  // the usual one, for the life of this process
  named_nvjitlink const named(copy);
  auto with = cached();
  auto const first = with.link(library_and_transform(), lto());
  EXPECT_EQ(first.cache, cache_outcome::miss);
  EXPECT_THAT(first.warnings,
              testing::Contains(testing::HasSubstr("the cache does not store this link")));
  // Now it is known which one links.
  EXPECT_EQ(with.link(library_and_transform(), lto()).cache, cache_outcome::miss);
  EXPECT_EQ(with.link(library_and_transform(), lto()).cache, cache_outcome::hit);
}

TEST_F(CachedLinker, EndsAnIdleHelperOfAnotherNvjitlink)
{
  auto const copy = folder_.path() / "libnvJitLink.so.13";
  std::filesystem::copy_file(nvjitlink::locate()->path, copy);
  std::ofstream(copy, std::ios::app) << 'x';
  std::vector<fatbin> const shipped{fatbin::read(places::data("apply_transform.fatbin")),
                                    fatbin::read(places::data("relu_poly.fatbin"))};
  linker usual;
  (void)usual.link(shipped, lto());  // leaves an idle helper of the usual one
  EXPECT_EQ(detail::idle_helper_count(), 1U);
  named_nvjitlink const named(copy);
  auto with = cached(isolation::helper);
  EXPECT_EQ(with.link(shipped, lto()).cache, cache_outcome::miss);
  EXPECT_EQ(with.link(shipped, lto()).cache, cache_outcome::hit);
}

TEST_F(Nvjitlink, WhoseFileWasReplacedIsNotTakenForTheNewOne)
{
  if (fixtures::k_has_thread_sanitizer)
    GTEST_SKIP() << "the thread sanitizer ends a process that opens two nvJitLinks";
  fixtures::folder const folder;
  auto const copy = folder.path() / "libnvJitLink.so.13";
  std::filesystem::copy_file(nvjitlink::locate()->path, copy);
  EXPECT_FALSE(nvjitlink::open(copy.string())->identity().empty());
  std::filesystem::remove(copy);
  std::filesystem::copy_file(places::hostile_nvjitlink(), copy);
  EXPECT_EQ(nvjitlink::open(copy.string())->identity(), "");  // the loader still has the old one
}

TEST_F(CachedLinker, KeepsAGoodLinkThoughItsCallerWantedMore)
{
  auto with = cached();
  auto strict = lto();
  strict.optimization = 0;  // leaves hooks as calls
  strict.require_inlined = true;
  EXPECT_THROW(with.link(library_and_transform(), strict), link_error);
  strict.require_inlined = false;
  EXPECT_EQ(with.link(library_and_transform(), strict).cache,
            cache_outcome::hit);  // the link itself was good
}

TEST(LinkKey, HoldsAllThatTheLinkDependsOnAndNoName)
{
  auto const key = link_key(library_and_transform(), lto(), "13.0 x 1");
  EXPECT_THAT(key.parts(), testing::HasSubstr("target:5:sm_90\nmode:3:lto\nemit:5:cubin\n"));
  EXPECT_THAT(key.parts(), testing::HasSubstr("option:6:-ftz=0\n"));
  EXPECT_THAT(key.parts(), testing::HasSubstr("nvjitlink:8:13.0 x 1\n"));
  EXPECT_THAT(key.parts(), testing::Not(testing::HasSubstr("fatbin")));
  EXPECT_NE(key.name(), link_key(library_and_transform(), lto(), "13.1 x 1").name());
  auto reversed = library_and_transform();
  std::swap(reversed[0], reversed[1]);
  EXPECT_NE(key.name(), link_key(reversed, lto(), "13.0 x 1").name());
}

TEST_F(CachedLinker, KeepsWhatThisProcessMadeFromLinkersThatAskForTheSandbox)
{
  EXPECT_EQ(cached(isolation::in_process).link(library_and_transform(), lto()).cache,
            cache_outcome::miss);
  EXPECT_EQ(cached(isolation::in_process).link(library_and_transform(), lto()).cache,
            cache_outcome::hit);
  EXPECT_EQ(cached(isolation::helper).link(library_and_transform(), lto()).cache,
            cache_outcome::miss);
  EXPECT_EQ(cached(isolation::helper).link(library_and_transform(), lto()).cache,
            cache_outcome::hit);
}
