// SPDX-License-Identifier: Apache-2.0
// Lists of devices, and links that they share.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "device/devices.hpp"
#include "expect_error.hpp"
#include "fatlink/devices.hpp"
#include "fatlink/error.hpp"
#include "reference_device_fixture.hpp"
#include "sanitizers.hpp"

using namespace fatlink;

namespace {

std::vector<std::string> names_of(opened_devices const& devices)
{
  std::vector<std::string> names;
  for (auto const& device : devices) names.push_back(device.device);
  return names;
}

class ReferenceDevices : public fixtures::reference_device_test {};

}  // namespace

TEST(OpenDevices, OpensEveryDeviceOfAList)
{
  auto const devices = open_devices("cpu,2xcpu:sm_80,cpu");
  EXPECT_THAT(names_of(devices), testing::ElementsAre("cpu", "cpu:sm_80", "cpu:sm_80#2", "cpu#2"));
  for (auto const& device : devices) ASSERT_TRUE(device);
  EXPECT_NE(devices[0].get(), devices[3].get());
  EXPECT_EQ(devices[1].get()->info().target, target("sm_80"));
}

TEST(OpenDevices, OpensOneDeviceToo)
{
  EXPECT_THAT(names_of(open_devices("cpu")), testing::ElementsAre("cpu"));
}

TEST_F(ReferenceDevices, AllHaveTheOptions)
{
  for (auto const& device : open_devices("cpu,cpu", {.instruction_budget = 1})) {
    auto const code = device.get()->load(image()).kernel<void(int*)>("store");
    auto const result = device.get()->allocate<int>(1);
    expect_error<device_error>(
        [&] { code.launch(device.get()->create_stream(), {}, result.data()); },
        "is still running after 1 instructions");
  }
}

TEST(OpenDevices, KeepsTheErrorOfADeviceThatCannotBeOpened)
{
  auto const devices = open_devices("gpu:77,cpu");
  EXPECT_FALSE(devices[0]);
  EXPECT_TRUE(devices[1]);
  EXPECT_EQ(devices[0].device, "gpu:77");
  EXPECT_THROW((void)devices[0].get(), unavailable_error);
}

TEST(OpenDevices, ThrowsTheErrorsOfAllIfNoneOpens)
{
  if (fixtures::k_has_thread_sanitizer)
    GTEST_SKIP()
        << "threads of GCC 12's thread sanitizer wait for ever for a static variable whose "
           "initialization throws in another thread";
  expect_error<unavailable_error>([] { (void)open_devices("gpu:77,78"); },
                                  "none of 2 devices could be opened: gpu:77: ");
  expect_error<unavailable_error>([] { (void)open_devices("gpu:77,78"); }, "; gpu:78: ");
  EXPECT_THROW((void)open_devices("gpu:77"), unavailable_error);
}

TEST(OpenDevices, RefusesOtherSpellings)
{
  for (auto const* const names :
       {"", ",", "cpu,", "gpu:", "gpux", "cpu,gpu:-1", "xcpu", "2x", "0;1"})
    expect_error<usage_error>([&] { (void)open_devices(names); }, "device '");
  expect_error<usage_error>([] { (void)open_devices("cpu,cpu:sm_1"); }, "sm_1");
  expect_error<usage_error>([] { (void)open_devices("0,gpu:0"); }, "names gpu:0 twice");
  expect_error<usage_error>([] { (void)open_devices("cpu,all"); }, "cannot be combined");
  expect_error<usage_error>([] { (void)open_devices("2xgpu"); }, "only reference devices");
  expect_error<usage_error>([] { (void)open_devices("0xcpu"); }, "write a number from 1 to 1024");
  expect_error<usage_error>([] { (void)open_devices("1025xcpu"); },
                            "write a number from 1 to 1024");
  expect_error<usage_error>([] { (void)open_devices("99999999999999999999xcpu"); },
                            "write a number from 1 to 1024");
  expect_error<usage_error>([] { (void)open_devices("1024xcpu,cpu"); }, "more than 1024 devices");
  expect_error<usage_error>([] { (void)open_devices(static_cast<char const*>(nullptr)); },
                            "no such device");
}

TEST(DeviceList, NamesGpusInOneWay)
{
  EXPECT_THAT(detail::parse_device_list("gpu:0,1,2"),
              testing::ElementsAre("gpu:0", "gpu:1", "gpu:2"));
  EXPECT_THAT(detail::parse_device_list("gpu,3,gpu:4"),
              testing::ElementsAre("gpu:0", "gpu:3", "gpu:4"));
}

TEST(DeviceList, IsToldFromOneDevice)
{
  for (auto const* const names : {"all", "0,1", "gpu:0,1", "cpu,cpu", "2xcpu", "cpu,"})
    EXPECT_TRUE(names_several_devices(names)) << names;
  for (auto const* const name : {"", "gpu", "gpu:1", "1", "cpu", "cpu:sm_80", "xcpu", "al"})
    EXPECT_FALSE(names_several_devices(name)) << name;
}

// One link for each distinct target, kind of image and mode, whoever asks.

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
