// SPDX-License-Identifier: Apache-2.0
// One link for each distinct target, kind of image and mode, whoever asks.
#include "device/devices.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fatlink/error.hpp"

using namespace fatlink;

namespace {

device_info gpu(char const* architecture)
{
  return {.kind = device_kind::gpu, .target = architecture};
}

/// Images that name their target, and how many were made.
class counted_links {
 public:
  detail::shared_links links{[this](device_info const& device, link_mode mode) {
    ++count;
    std::this_thread::yield();
    return linked_image{.target = device.target, .mode = mode};
  }};
  std::atomic<int> count = 0;
};

}  // namespace

TEST(SharedLinks, MakesOneForAllThatAsk)
{
  counted_links counted;
  std::vector<std::shared_ptr<linked_image const>> images(8);
  {
    std::vector<std::jthread> threads;
    for (auto& image : images)
      threads.emplace_back([&] { image = counted.links.get(gpu("sm_90"), link_mode::lto); });
  }
  EXPECT_EQ(counted.count, 1);
  for (auto const& image : images) EXPECT_EQ(image, images.front());
}

TEST(SharedLinks, MakesOneForEachTargetKindAndMode)
{
  counted_links counted;
  device_info const cpu{.kind = device_kind::cpu, .target = "sm_90"};
  for (int i = 0; i < 2; ++i) {
    for (auto const* const name : {"sm_90", "sm_80"})
      for (auto const mode : {link_mode::ptx, link_mode::lto})
        EXPECT_EQ(counted.links.get(gpu(name), mode)->target, target(name));
    (void)counted.links.get(cpu, link_mode::lto);
  }
  EXPECT_EQ(counted.count, 5);
  EXPECT_EQ(counted.links.images(link_mode::ptx).size(), 2U);
  EXPECT_EQ(counted.links.images(link_mode::lto).size(), 3U);
}

TEST(SharedLinks, GiveAnErrorToAllThatAskAndTryOnce)
{
  int count = 0;
  detail::shared_links links([&](device_info const&, link_mode) -> linked_image {
    ++count;
    throw link_error(stage::linker, {.message = "refused"});
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_THROW((void)links.get(gpu("sm_90"), link_mode::lto), link_error);
  EXPECT_EQ(count, 1);
  EXPECT_TRUE(links.images(link_mode::lto).empty());
}
