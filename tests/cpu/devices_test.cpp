// SPDX-License-Identifier: Apache-2.0
// Links, loads and plans on several reference devices.
#include "fatlink/devices.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "expect_error.hpp"
#include "fatlink/prepare.hpp"
#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"
#include "places.hpp"

namespace fatlink {
namespace {

using elementwise = void(float const*, float*, std::size_t);

std::vector<input> pair()
{
  return {input::read(places::data("apply_transform.fatbin")),
          input::read(places::data("identity.fatbin"))};
}

class SeveralDevices : public fixtures::needs_nvjitlink {
 protected:
  /// Links in the helper, with a cache of its own.
  [[nodiscard]] linker cached() { return linker({.cache = cache_}); }
  fixtures::folder folder_;
  std::shared_ptr<link_cache> cache_ =
      std::make_shared<link_cache>(cache_settings{.folder = folder_.path() / "cache"});
};

/// Whether a kernel of the identity copies four numbers.
bool copies(device const& destination, loaded_module const& code)
{
  std::vector<float> const values{1, 2, 3, 4};
  std::vector<float> results(values.size());
  auto in = destination.allocate<float>(values.size());
  auto out = destination.allocate<float>(values.size());
  in.write(values);
  auto const stream = destination.create_stream();
  code.kernel<elementwise>("apply_transform")
      .launch(stream, elementwise_shape(1), in.data(), out.data(), values.size());
  destination.synchronize(stream);
  out.read(results);
  return results == values;
}

}  // namespace

TEST_F(SeveralDevices, ShareOneLinkForEachTarget)
{
  auto const devices = open_devices("cpu,cpu,2xcpu:sm_80");
  for (auto links : {linker(), cached()}) {
    auto const loaded = link_and_load(devices, links, pair());
    EXPECT_EQ(loaded.images.size(), 2U);
    ASSERT_EQ(loaded.devices.size(), 4U);
    for (std::size_t i = 0; i < devices.size(); ++i)
      EXPECT_TRUE(copies(*devices[i].get(), loaded.devices[i].get())) << loaded.devices[i].device;
  }
  EXPECT_EQ(cache_->statistics().misses, 2U);
  EXPECT_EQ(cache_->statistics().hits, 0U);
}

TEST_F(SeveralDevices, LoadInTheModeThatIsAskedFor)
{
  linker links;
  auto const loaded = link_and_load(open_devices("cpu,cpu"), links, pair(), link_mode::ptx);
  ASSERT_EQ(loaded.images.size(), 1U);
  EXPECT_EQ(loaded.images.front()->mode, link_mode::ptx);
  expect_error<usage_error>(
      [&] { (void)link_and_load(open_devices("cpu"), links, pair(), link_mode(7)); }, "link mode");
}

TEST_F(SeveralDevices, KeepTheirErrors)
{
  linker links;
  auto const devices = open_devices("cpu,gpu:77,cpu");
  auto const loaded = link_and_load(devices, links, pair());
  EXPECT_TRUE(loaded.devices[0]);
  EXPECT_EQ(loaded.devices[1].failure, devices[1].failure);
  EXPECT_EQ(loaded.devices[1].device, "gpu:77");
  EXPECT_TRUE(loaded.devices[2]);
}

TEST_F(SeveralDevices, ShareTheErrorOfTheirLink)
{
  linker links;
  auto const loaded = link_and_load(open_devices("cpu,cpu"), links, {pair().front()});
  EXPECT_TRUE(loaded.images.empty());
  for (auto const& device : loaded.devices) EXPECT_THROW((void)device.get(), refused_error);
}

TEST_F(SeveralDevices, MustNotBeNull)
{
  linker links;
  opened_devices const devices{{.device = "mine", .value = std::shared_ptr<device>()}};
  expect_error<usage_error>([&] { (void)link_and_load(devices, links, pair()); },
                            "device 'mine' is null");
  expect_error<usage_error>([&] { (void)prepare(devices, links, {}); }, "device 'mine' is null");
}

TEST_F(SeveralDevices, RunALaunchPlanThatIsLinkedOnce)
{
  auto links = cached();
  auto const devices = open_devices("cpu,cpu");
  auto const prepared = prepare(devices, links,
                                {.library = places::data("map1.fatbin"),
                                 .transforms = {places::data("float_to_half.fatbin")}});
  EXPECT_EQ(prepared.images.size(), 1U);
  EXPECT_EQ(cache_->statistics().misses, 1U);
  for (auto const& device : prepared.devices) EXPECT_EQ(device.get().plan().name, "map1");
}

TEST_F(SeveralDevices, OfAPlanFailTogetherWithoutItsFiles)
{
  linker links;
  EXPECT_THROW((void)prepare(open_devices("cpu,cpu"), links, {.library = "/nowhere/x.fatbin"}),
               file_error);
}

}  // namespace fatlink
