// SPDX-License-Identifier: Apache-2.0
// Misuse of the device types on a GPU: the same errors as on the reference device
// (tests/unit/device/misuse_test.cpp), before the driver sees the call.
#include <gtest/gtest.h>

#include <limits>

#include "expect_error.hpp"
#include "fatlink/device.hpp"

using namespace fatlink;

namespace {

class GpuMisuse : public testing::Test {
 protected:
  void SetUp() override
  {
    std::string reason;
    if (list_gpus(reason).empty()) GTEST_SKIP() << reason;
    gpu_ = open_device("gpu");
  }

  std::shared_ptr<device> gpu_;
};

}  // namespace

TEST_F(GpuMisuse, RefusesSizesAndElementsThatOverflow)
{
  constexpr auto k_huge = std::size_t{1} << 62;
  expect_error<usage_error>([&] { (void)gpu_->allocate<float>(k_huge); }, "more than 2^64 bytes");
  auto buffer = gpu_->allocate<float>(4);
  std::vector<float> values(2, 1);
  for (auto const first : {k_huge, std::size_t{3}, ~std::size_t{0}}) {
    expect_error<usage_error>([&] { buffer.write(values, first); }, "exceeds a buffer");
    expect_error<usage_error>([&] { buffer.read(values, first); }, "exceeds a buffer");
  }
  buffer.write(values, 2);
}

TEST_F(GpuMisuse, RefusesWhatWasMovedFrom)
{
  auto buffer = gpu_->allocate<float>(4);
  auto const moved = std::move(buffer);
  std::vector<float> values(1);
  expect_error<usage_error>([&] { buffer.write(values); }, "was moved from");  // NOLINT
  auto s = gpu_->create_stream();
  auto const moved_stream = std::move(s);
  expect_error<usage_error>([&] { s.synchronize(); }, "was moved from");  // NOLINT
}

TEST_F(GpuMisuse, RefusesObjectsOfTheReferenceDeviceAndTakesThoseOfTheSameGpu)
{
  auto const cpu = open_device("cpu");
  auto const own_buffer = gpu_->allocate<int>(2);
  auto s = gpu_->create_stream();
  auto e = gpu_->create_event();
  auto theirs = cpu->create_event();
  auto const their_stream = cpu->create_stream();
  auto const refusal = "belongs to another device";
  expect_error<usage_error>([&] { gpu_->copy(own_buffer, cpu->allocate<int>(2), 2, s); }, refusal);
  expect_error<usage_error>([&] { e.record(their_stream); }, refusal);
  e.record(s);
  theirs.record(their_stream);
  expect_error<usage_error>([&] { (void)e.ms_since(theirs); }, refusal);
  auto const reopened = open_device("gpu");
  reopened->copy(reopened->allocate<int>(2), own_buffer, 2, s);
  s.synchronize();
}

TEST_F(GpuMisuse, RefusesTexturesThatDoNotFit)
{
  auto const array = gpu_->create_array({channel_type::u8, 1}, {.width = 4, .height = 4});
  expect_error<usage_error>(
      [&] { (void)gpu_->create_texture(array, {.filter = filter_mode::linear}); },
      "cannot be interpolated");
  expect_error<usage_error>([&] { (void)gpu_->create_surface(array); },
                            "made without access by surfaces");
  expect_error<usage_error>(
      [&] {
        (void)gpu_->create_array({channel_type::u8, 3}, {.width = 4});
      },
      "texels cannot have 3 channels");
  auto const cpu = open_device("cpu");
  expect_error<usage_error>([&] { (void)cpu->create_texture(array); }, "belongs to another device");
  expect_error<usage_error>(
      [&] {
        (void)gpu_->create_texture(cpu->allocate<float>(4), {channel_type::f32, 1});
      },
      "belongs to another device");
  EXPECT_NE(open_device("gpu")->create_texture(array).handle(), 0U);
}

TEST_F(GpuMisuse, ReportsAnArrayThatTheDriverRefuses)
{
  expect_error<device_error>(
      [&] {
        (void)gpu_->create_array({channel_type::f32, 4},
                                 {.width = 32768, .height = 32768, .layers = 2048});
      },
      "creating an array on");
}
