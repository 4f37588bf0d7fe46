// SPDX-License-Identifier: Apache-2.0
// Misuse of the device types, on the reference device: an error that says what is wrong, never
// memory of another object. tests/gpu/device_misuse_test.cpp has what concerns a GPU.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "expect_error.hpp"
#include "fatlink/device.hpp"
#include "reference_device_fixture.hpp"

using namespace fatlink;

namespace {

constexpr auto k_huge = std::size_t{1} << 62;

class DeviceMisuse : public fixtures::reference_device_test {};

}  // namespace

TEST_F(DeviceMisuse, RefusesSizesThatOverflow)
{
  for (auto const count : {k_huge, std::numeric_limits<std::size_t>::max()})
    expect_error<usage_error>([&] { (void)device_->allocate<float>(count); },
                              "more than 2^64 bytes");
  expect_error<device_error>([&] { (void)device_->allocate<float>(k_huge - 1); },
                             "cannot allocate");
}

TEST_F(DeviceMisuse, RefusesElementsOutsideOfTheBuffer)
{
  auto buffer = device_->allocate<float>(4);
  std::vector<float> values(2, 1);
  for (auto const first : {k_huge, std::size_t{3}, std::size_t{5}, ~std::size_t{0}}) {
    expect_error<usage_error>([&] { buffer.write(values, first); }, "exceeds a buffer");
    expect_error<usage_error>([&] { buffer.read(values, first); }, "exceeds a buffer");
  }
  auto const s = device_->create_stream();
  auto const small = device_->allocate<float>(3);
  for (auto const count : {std::size_t{4}, k_huge})
    expect_error<usage_error>([&] { device_->copy(small, buffer, count, s); }, "exceeds a buffer");
}

TEST_F(DeviceMisuse, TakesNothingForZeroElements)
{
  auto empty = device_->allocate<float>(0);
  empty.write({});
  empty.read({});
  empty.fill(std::byte{1});
  device_->copy(empty, empty, 0, device_->create_stream());
  EXPECT_EQ(empty.size(), 0U);
}

TEST_F(DeviceMisuse, RefusesABufferThatWasMovedFrom)
{
  auto buffer = device_->allocate<float>(4);
  auto const moved = std::move(buffer);
  std::vector<float> values(1);
  EXPECT_EQ(buffer.size(), 0U);       // NOLINT: that is what is tested
  EXPECT_EQ(buffer.address(), 0U);    // NOLINT
  EXPECT_EQ(buffer.data(), nullptr);  // NOLINT
  expect_error<usage_error>([&] { buffer.write(values); }, "was moved from");
  expect_error<usage_error>([&] { buffer.read(values); }, "was moved from");
  expect_error<usage_error>([&] { buffer.fill(std::byte{1}); }, "was moved from");
  auto const s = device_->create_stream();
  expect_error<usage_error>([&] { buffer.fill(std::byte{1}, s); }, "was moved from");
  expect_error<usage_error>([&] { device_->copy(moved, buffer, 0, s); }, "was moved from");
}

TEST_F(DeviceMisuse, RefusesWhatElseWasMovedFrom)
{
  auto buffer = device_->allocate<int>(1);
  auto module = device_->load(image());
  auto code = module.kernel<void(int*)>("store");
  auto s = device_->create_stream();
  auto e = device_->create_event();
  auto open = *device_;
  auto const moved_stream = std::move(s);
  auto const moved_event = std::move(e);
  expect_error<usage_error>([&] { s.synchronize(); }, "was moved from");                // NOLINT
  expect_error<usage_error>([&] { e.record(moved_stream); }, "was moved from");         // NOLINT
  expect_error<usage_error>([&] { (void)moved_event.ms_since(e); }, "was moved from");  // NOLINT
  expect_error<usage_error>([&] { code.launch(s, {}, buffer.data()); }, "was moved from");
  auto const moved_code = std::move(code);
  expect_error<usage_error>([&] { code.launch(moved_stream, {}, nullptr); },  // NOLINT
                            "was moved from");
  auto const moved_module = std::move(module);
  expect_error<usage_error>([&] { (void)module.kernel<void(int*)>("store"); },
                            "was moved from");  // NOLINT
  auto const moved_device = std::move(open);
  expect_error<usage_error>([&] { (void)open.allocate<int>(1); }, "was moved from");  // NOLINT
  expect_error<usage_error>([&] { (void)open.info(); }, "was moved from");
  expect_error<usage_error>([&] { (void)open.load(image()); }, "was moved from");
  moved_code.launch(moved_stream, {}, buffer.data());
  int value = 0;
  buffer.read({&value, 1});
  EXPECT_EQ(value, 42);
}

TEST_F(DeviceMisuse, RefusesObjectsOfAnotherDevice)
{
  auto const own_buffer = device_->allocate<int>(2);
  auto theirs = other_->allocate<int>(2);
  auto const s = device_->create_stream();
  auto const their_stream = other_->create_stream();
  auto e = device_->create_event();
  auto their_event = other_->create_event();
  auto const code = device_->load(image()).kernel<void(int*)>("store");
  auto const refusal = "belongs to another device";
  expect_error<usage_error>([&] { device_->copy(own_buffer, theirs, 2, s); }, refusal);
  expect_error<usage_error>([&] { device_->copy(theirs, own_buffer, 2, s); }, refusal);
  expect_error<usage_error>([&] { device_->copy(own_buffer, own_buffer, 2, their_stream); },
                            refusal);
  expect_error<usage_error>([&] { theirs.fill(std::byte{1}, s); }, refusal);
  expect_error<usage_error>([&] { e.record(their_stream); }, refusal);
  expect_error<usage_error>([&] { code.launch(their_stream, {}, own_buffer.data()); }, refusal);
  e.record(s);
  their_event.record(their_stream);
  expect_error<usage_error>([&] { (void)e.ms_since(their_event); }, refusal);
}

TEST_F(DeviceMisuse, RefusesStreamsThatAreNotTheReferenceDevices)
{
  int host_variable = 0;
  auto buffer = device_->allocate<int>(1);
  auto const code = device_->load(image()).kernel<void(int*)>("store");
  auto e = device_->create_event();
  std::array values{0};
  auto const their_stream = other_->create_stream();
  for (auto const& foreign :
       {stream_view(&host_variable), stream_view(their_stream.native_handle())}) {
    auto const refusal = "does not belong to the reference device";
    expect_error<usage_error>([&] { code.launch(foreign, {}, buffer.data()); }, refusal);
    expect_error<usage_error>([&] { buffer.write(values, foreign); }, refusal);
    expect_error<usage_error>([&] { buffer.read(values, foreign); }, refusal);
    expect_error<usage_error>([&] { buffer.fill(std::byte{1}, foreign); }, refusal);
    expect_error<usage_error>([&] { device_->copy(buffer, buffer, 1, foreign); }, refusal);
    expect_error<usage_error>([&] { device_->synchronize(foreign); }, refusal);
    expect_error<usage_error>([&] { e.record(foreign); }, refusal);
  }
}

TEST_F(DeviceMisuse, LaunchesAndCopiesOnBorrowedStreamsOfTheReferenceDevice)
{
  auto const s = device_->create_stream();
  auto const code = device_->load(image()).kernel<void(int*)>("store");
  for (auto const& borrowed : {stream_view(nullptr), stream_view(s.native_handle())}) {
    auto buffer = device_->allocate<int>(1);
    std::array values{0};
    buffer.write(values, borrowed);
    code.launch(borrowed, {}, buffer.data());
    buffer.read(values, borrowed);
    device_->synchronize(borrowed);
    EXPECT_EQ(values[0], 42);
  }
}

TEST_F(DeviceMisuse, FindsVariablesThatTheirModuleMakesVisible)
{
  auto const module = device_->load(image(R"(.version 9.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 shown[2] = {3, 4};
.visible .const .align 4 .u32 fixed = 5;
.global .align 4 .u32 hidden = 6;
.visible .shared .align 4 .u32 of_blocks;
)"));
  std::vector<std::uint32_t> values(2);
  module.global<std::uint32_t>("shown").read(values);
  EXPECT_EQ(values, (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(module.global<std::byte>("fixed").size(), 4U);
  for (auto const* name : {"hidden", "of_blocks", "absent"})
    expect_error<file_error>([&] { (void)module.global<std::uint32_t>(name); },
                             std::string("variable ") + name + " is not in the linked image");
}

TEST_F(DeviceMisuse, RefusesTheTimeOfAnEventThatWasNotRecorded)
{
  auto const s = device_->create_stream();
  auto recorded = device_->create_event();
  recorded.record(s);
  auto const fresh = device_->create_event();
  expect_error<device_error>([&] { (void)recorded.ms_since(fresh); }, "not recorded");
}

TEST_F(DeviceMisuse, RefusesNullBackends)
{
  expect_error<usage_error>([] { device{nullptr}; }, "no device");
  expect_error<usage_error>([] { stream{nullptr}; }, "no device");
  expect_error<usage_error>([] { event{nullptr}; }, "no device");
  expect_error<usage_error>([] { device_buffer<int>(nullptr, 1); }, "no device");
  expect_error<usage_error>([] { loaded_module(nullptr, image()); }, "no device");
}

TEST_F(DeviceMisuse, RefusesNullAndUnknownNames)
{
  char const* const none = nullptr;
  expect_error<usage_error>([&] { (void)open_device(none); }, "no such device");
  auto const module = device_->load(image());
  for (auto const& name : {std::string(), std::string("store\0x", 7), std::string("stor")})
    expect_error<file_error>([&] { (void)module.kernel<void(int*)>(name); }, "no kernel");
  expect_error<usage_error>([&] { (void)module.kernel<void(int*)>(none); }, "no name");
}
