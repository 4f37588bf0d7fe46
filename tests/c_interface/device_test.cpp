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

/// Blocks 0 and 2 end, blocks 1 and 3 never do.
constexpr char const* k_half_endless = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry endless()
{
  .reg .u32 %r;
  .reg .pred %odd;
  mov.u32 %r, %ctaid.x;
  and.b32 %r, %r, 1;
  setp.ne.u32 %odd, %r, 0;
again:
  @%odd bra again;
  ret;
}
)";

/// Sets what this thread's calls ask, while it lives: true from the third time on.
class third_time {
 public:
  third_time() { fatlink_set_cancel_check(&third_time::is_cancelled, this); }
  ~third_time() { fatlink_set_cancel_check(nullptr, nullptr); }
  third_time(third_time const&) = delete;
  third_time& operator=(third_time const&) = delete;
  [[nodiscard]] int asked() const { return asked_; }

 private:
  static std::int32_t is_cancelled(void* self)
  {
    return ++static_cast<third_time*>(self)->asked_ >= 3 ? 1 : 0;
  }
  int asked_ = 0;
};

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
  fail_usage(fatlink_device_get_memory_pool(device_.get(), nullptr), "pool is NULL");
  fail_usage(fatlink_device_limit_memory_pool(nullptr, 0), "device is NULL");
  fail_usage(fatlink_device_trim_memory_pool(nullptr, 0), "device is NULL");
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

TEST_F(CDevice, EndsKernelsThatTheCallerCancels)
{
  fatlink_device_options stated = {};
  stated.size = sizeof stated;
  stated.instruction_budget = UINT64_MAX;
  succeed(fatlink_device_open("cpu", &stated, result_of(device_)));
  for (auto const* const text : {k_endless, k_half_endless})
    for (std::uint32_t const blocks : {1U, 2U, 4U}) {
      if (text == k_half_endless && blocks == 1) continue;
      SCOPED_TRACE(blocks);
      input_ = fixtures::c_input_of(text, "endless.ptx");
      fixtures::c_kernel kernel;
      succeed(fatlink_module_kernel(load().get(), "endless", result_of(kernel)));
      fatlink_launch_shape shape = {};
      shape.size = sizeof shape;
      shape.grid = {blocks, 1, 1};
      third_time const cancel;
      fixtures::c_error const error(
          fatlink_kernel_launch(kernel.get(), nullptr, &shape, nullptr, 0));
      EXPECT_EQ(fatlink_error_get_kind(error.get()), FATLINK_ERROR_CANCELLED);
      EXPECT_STREQ(fatlink_error_code(error.get()), "cancelled");
      EXPECT_STREQ(fatlink_error_stage(error.get()), "device");
      EXPECT_EQ(fatlink_error_exit_status(error.get()), 130);
      EXPECT_EQ(cancel.asked(), 3);
    }
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
