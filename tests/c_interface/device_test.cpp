// SPDX-License-Identifier: Apache-2.0
// Devices and streams of the C interface, on the reference device.
#include <cstdint>

#include "c_interface_fixture.hpp"

using fixtures::c_device;
using fixtures::c_stream;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class CDevice : public fixtures::c_interface {};

fatlink_device_info info_of(fatlink_device const* device)
{
  fatlink_device_info info = {};
  info.size = sizeof info;
  succeed(fatlink_device_get_info(device, &info));
  return info;
}

/// A kernel that never ends.
constexpr char const* k_endless = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry endless()
{
again:
  bra.uni again;
}
)";

}  // namespace

TEST_F(CDevice, StatesItsFacts)
{
  auto const info = info_of(device_.get());
  EXPECT_EQ(info.is_gpu, 0);
  EXPECT_THAT(info.name, testing::HasSubstr("reference device"));
  EXPECT_STREQ(info.target, "sm_90");
  EXPECT_GE(info.multiprocessors, 1U);
  EXPECT_GT(info.max_shared_bytes_per_block, 0U);
}

TEST_F(CDevice, HasTheStatedTarget)
{
  c_device device;
  succeed(fatlink_device_open("cpu:sm_80", nullptr, result_of(device)));
  EXPECT_STREQ(info_of(device.get()).target, "sm_80");
}

TEST_F(CDevice, RefusesNamesAndNull)
{
  fatlink_device* device = nullptr;
  fail_usage(fatlink_device_open("tpu", nullptr, &device), "tpu");
  fail_usage(fatlink_device_open(nullptr, nullptr, &device), "name is NULL");
  fail_usage(fatlink_device_open("cpu", nullptr, nullptr), "device is NULL");
  fatlink_device_info info = {};
  info.size = sizeof info;
  fail_usage(fatlink_device_get_info(nullptr, &info), "device is NULL");
  fail_usage(fatlink_device_get_info(device_.get(), nullptr), "info is NULL");
  fatlink_device_options stated = {};
  stated.size = sizeof stated;
  stated.reserved = 1;
  fail_usage(fatlink_device_open("cpu", &stated, &device), "the member reserved of options is 1");
  fatlink_device_free(nullptr);
}

TEST_F(CDevice, NeverOpensAnotherDevice)
{
  fatlink_device* device = nullptr;
  auto const missing = "gpu:" + std::to_string(fatlink_gpu_count());
  fixtures::c_error const error(fatlink_device_open(missing.c_str(), nullptr, &device));
  EXPECT_EQ(device, nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(fatlink_error_get_kind(error.get()), FATLINK_ERROR_UNAVAILABLE);
  EXPECT_THAT(fatlink_error_message(error.get()),
              testing::AnyOf(testing::StartsWith(missing + ": no such GPU"),
                             testing::StartsWith("no CUDA driver to run on: ")));
}

TEST_F(CDevice, EndsKernelsAtTheInstructionBudget)
{
  fatlink_device_options stated = {};
  stated.size = sizeof stated;
  stated.instruction_budget = 1000;
  succeed(fatlink_device_open("cpu", &stated, result_of(device_)));
  input_ = fixtures::c_input_of(k_endless, "endless.ptx");
  fixtures::c_kernel kernel;
  succeed(fatlink_module_kernel(load().get(), "endless", result_of(kernel)));
  fatlink_launch_shape shape = {};
  shape.size = sizeof shape;
  fail(fatlink_kernel_launch(kernel.get(), nullptr, &shape, nullptr, 0), FATLINK_ERROR_DEVICE,
       "endless");
}

TEST_F(CDevice, GivesStreams)
{
  c_stream stream;
  succeed(fatlink_stream_create(device_.get(), result_of(stream)));
  EXPECT_NE(fatlink_stream_handle(stream.get()), nullptr);
  succeed(fatlink_synchronize(device_.get(), fatlink_stream_handle(stream.get())));
  succeed(fatlink_synchronize(device_.get(), nullptr));
}

TEST_F(CDevice, RefusesStreamsOfOthers)
{
  fail_usage(fatlink_synchronize(device_.get(), this), "does not belong");
  fail_usage(fatlink_synchronize(nullptr, nullptr), "device is NULL");
  fatlink_stream* stream = nullptr;
  fail_usage(fatlink_stream_create(nullptr, &stream), "device is NULL");
  fail_usage(fatlink_stream_create(device_.get(), nullptr), "stream is NULL");
  EXPECT_EQ(fatlink_stream_handle(nullptr), nullptr);
  fatlink_stream_free(nullptr);
}

TEST_F(CDevice, StatesHowToLinkForIt)
{
  fatlink_link_options stated = {};
  stated.size = sizeof stated;
  stated.max_registers = 64;
  succeed(fatlink_device_link_options(device_.get(), FATLINK_MODE_LTO, &stated));
  EXPECT_STREQ(stated.target, "sm_90");
  EXPECT_EQ(stated.emit, FATLINK_IMAGE_PTX);
  EXPECT_EQ(stated.max_registers, 64U);
  fail_usage(fatlink_device_link_options(device_.get(), 9, &stated), "mode is 9");
  fail_usage(fatlink_device_link_options(device_.get(), 0, nullptr), "options is NULL");
  fail_usage(fatlink_device_link_options(nullptr, 0, &stated), "device is NULL");
}
