// SPDX-License-Identifier: Apache-2.0
// Lists of devices, on the reference device.
#include "fatlink/devices.hpp"

#include <gtest/gtest.h>

#include "device/devices.hpp"
#include "expect_error.hpp"
#include "reference_device_fixture.hpp"

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
