// SPDX-License-Identifier: Apache-2.0
// Modules and kernels of the C interface, on the reference device.
#include <cstdint>
#include <cstring>

#include "c_interface_fixture.hpp"

using fixtures::c_kernel;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class CKernel : public fixtures::c_interface {
 protected:
  CKernel() { shape_.size = sizeof shape_; }

  fatlink_launch_shape shape_ = {};
};

constexpr char const* k_variable = R"(.version 9.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 scale = 7;
.visible .entry nothing() { ret; }
)";

}  // namespace

TEST_F(CKernel, WritesToABuffer)
{
  auto const kernel = find_kernel();
  EXPECT_EQ(fatlink_kernel_parameter_count(kernel.get()), 1U);
  EXPECT_EQ(fatlink_kernel_parameter_bytes(kernel.get(), 0), 8U);
  EXPECT_EQ(fatlink_kernel_parameter_bytes(kernel.get(), 1), 0U);
  EXPECT_EQ(fatlink_kernel_handle(kernel.get()), nullptr);
  auto const buffer = allocate(4);
  auto address = fatlink_buffer_address(buffer.get());
  void* const argument = &address;
  succeed(fatlink_kernel_launch(kernel.get(), nullptr, &shape_, &argument, 1));
  int value = 0;
  succeed(fatlink_buffer_read_now(buffer.get(), 0, &value, sizeof value));
  EXPECT_EQ(value, 42);
}

TEST_F(CKernel, OutlivesWhatItWasMadeOf)
{
  auto const kernel = find_kernel();
  auto const buffer = allocate(4);
  device_.reset();
  linker_.reset();
  input_.reset();
  auto address = fatlink_buffer_address(buffer.get());
  void* const argument = &address;
  succeed(fatlink_kernel_launch(kernel.get(), nullptr, &shape_, &argument, 1));
}

TEST_F(CKernel, ReportsAFaultOfAThread)
{
  auto const kernel = find_kernel();
  std::uint64_t address = 0;
  void* const argument = &address;
  fail(fatlink_kernel_launch(kernel.get(), nullptr, &shape_, &argument, 1), FATLINK_ERROR_DEVICE,
       "a null pointer");
}

TEST_F(CKernel, RefusesOtherArguments)
{
  auto const kernel = find_kernel();
  void* const argument = nullptr;
  fail_usage(fatlink_kernel_launch(kernel.get(), nullptr, &shape_, nullptr, 0),
             "the kernel takes 1 argument");
  fail_usage(fatlink_kernel_launch(kernel.get(), nullptr, &shape_, &argument, 1),
             "the pointer to argument 0 is null");
}

TEST_F(CKernel, ThatTheModuleLacksIsAFileError)
{
  c_kernel kernel;
  fail(fatlink_module_kernel(load().get(), "nothing", result_of(kernel)), FATLINK_ERROR_FILE,
       "nothing");
}

TEST_F(CKernel, RefusesNull)
{
  auto const module = load();
  auto const kernel = find_kernel();
  fatlink_module* no_module = nullptr;
  fatlink_kernel* no_kernel = nullptr;
  fail_usage(fatlink_module_load(nullptr, link().get(), &no_module), "device is NULL");
  fail_usage(fatlink_module_load(device_.get(), nullptr, &no_module), "image is NULL");
  fail_usage(fatlink_module_load(device_.get(), link().get(), nullptr), "module is NULL");
  fail_usage(fatlink_module_kernel(nullptr, "x", &no_kernel), "module is NULL");
  fail_usage(fatlink_module_kernel(module.get(), nullptr, &no_kernel), "name is NULL");
  fail_usage(fatlink_module_kernel(module.get(), "x", nullptr), "kernel is NULL");
  fail_usage(fatlink_kernel_launch(nullptr, nullptr, &shape_, nullptr, 0), "kernel is NULL");
  fail_usage(fatlink_kernel_launch(kernel.get(), nullptr, nullptr, nullptr, 0), "shape is NULL");
  fail_usage(fatlink_kernel_launch(kernel.get(), nullptr, &shape_, nullptr, 1),
             "arguments is NULL");
  EXPECT_EQ(fatlink_kernel_parameter_count(nullptr), 0U);
  EXPECT_EQ(fatlink_kernel_parameter_bytes(nullptr, 0), 0U);
  EXPECT_EQ(fatlink_module_handle(nullptr), nullptr);
  EXPECT_EQ(fatlink_kernel_handle(nullptr), nullptr);
  EXPECT_EQ(fatlink_kernel_cu_kernel(nullptr), nullptr);
  fatlink_module_free(nullptr);
  fatlink_kernel_free(nullptr);
}

TEST_F(CKernel, HasNoHandlesOnTheReferenceDevice)
{
  auto const module = load();
  auto const kernel = find_kernel();
  EXPECT_EQ(fatlink_module_handle(module.get()), nullptr);
  EXPECT_EQ(fatlink_kernel_handle(kernel.get()), nullptr);
  EXPECT_EQ(fatlink_kernel_cu_kernel(kernel.get()), nullptr);
}

TEST_F(CKernel, HasTheVariablesOfItsModule)
{
  input_ = fixtures::c_input_of(k_variable, "variable.ptx");
  auto const module = load();
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  succeed(fatlink_module_variable(module.get(), "scale", &address, &bytes));
  EXPECT_NE(address, 0U);
  EXPECT_EQ(bytes, 4U);
  fail(fatlink_module_variable(module.get(), "offset", &address, &bytes), FATLINK_ERROR_FILE,
       "offset");
  EXPECT_EQ(address, 0U);
  fail_usage(fatlink_module_variable(module.get(), "scale", nullptr, &bytes), "address is NULL");
  fail_usage(fatlink_module_variable(module.get(), "scale", &address, nullptr), "bytes is NULL");
}
