// SPDX-License-Identifier: Apache-2.0
// Live modules and live plans of the C interface, on the reference device.
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "c_plan_fixture.hpp"

using fixtures::c_call;
using fixtures::c_live_kernel;
using fixtures::c_live_module;
using fixtures::c_live_plan;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class CLive : public fixtures::c_plans {
 protected:
  CLive()
  {
    settings_.size = sizeof settings_;
    settings_.mode = FATLINK_MODE_PTX;
    report_.size = sizeof report_;
  }
  [[nodiscard]] c_live_module make_module() const
  {
    c_live_module module;
    succeed(
        fatlink_live_module_create(device_.get(), linker_.get(), &settings_, result_of(module)));
    return module;
  }
  [[nodiscard]] c_live_plan make_plan() const
  {
    c_live_plan plan;
    succeed(fatlink_live_plan_create(device_.get(), linker_.get(), &settings_, result_of(plan)));
    return plan;
  }
  void swap(fatlink_live_plan* plan)
  {
    auto const library = fixtures::read_c_input(places::corpus("weighted_sum.fatbin"));
    std::array<fatlink_input const*, 2> const inputs{library.get(), transform_.get()};
    succeed(fatlink_live_plan_swap(plan, inputs.data(), inputs.size(), &report_));
  }

  fatlink_live_settings settings_ = {};
  fatlink_swap_report report_ = {};
};

/// k_store_ptx with another value.
std::string store_of(std::string const& value)
{
  std::string text(fixtures::k_store_ptx);
  return text.replace(text.find("42"), 2, value);
}

}  // namespace

TEST_F(CLive, ModuleLaunchesThePublishedVersion)
{
  auto const module = make_module();
  EXPECT_EQ(fatlink_live_module_version(module.get()), 0U);
  auto const* input = input_.get();
  succeed(fatlink_live_module_swap(module.get(), &input, 1, &report_));
  EXPECT_EQ(report_.version, 1U);
  EXPECT_EQ(report_.mode, FATLINK_MODE_PTX);
  EXPECT_EQ(report_.cache, FATLINK_CACHE_OFF);
  EXPECT_GT(report_.total_ms, 0);
  c_live_kernel kernel;
  succeed(fatlink_live_module_kernel(module.get(), "store", result_of(kernel)));
  auto const other = fixtures::c_input_of(store_of("43"));
  input = other.get();
  succeed(fatlink_live_module_swap(module.get(), &input, 1, nullptr));
  EXPECT_EQ(fatlink_live_module_version(module.get()), 2U);
  auto const buffer = allocate(4);
  auto address = fatlink_buffer_address(buffer.get());
  void* const argument = &address;
  fatlink_launch_shape shape = {};
  shape.size = sizeof shape;
  succeed(fatlink_live_kernel_launch(kernel.get(), nullptr, &shape, &argument, 1));
  int value = 0;
  succeed(fatlink_buffer_read_now(buffer.get(), 0, &value, sizeof value));
  EXPECT_EQ(value, 43);
}

TEST_F(CLive, KernelGivesTheSizesOfItsParameters)
{
  auto const module = make_module();
  auto const* input = input_.get();
  succeed(fatlink_live_module_swap(module.get(), &input, 1, nullptr));
  c_live_kernel kernel;
  succeed(fatlink_live_module_kernel(module.get(), "store", result_of(kernel)));
  EXPECT_EQ(fatlink_live_kernel_parameter_count(kernel.get()), 1U);
  EXPECT_EQ(fatlink_live_kernel_parameter_bytes(kernel.get(), 0), 8U);
  EXPECT_EQ(fatlink_live_kernel_parameter_bytes(kernel.get(), 1), 0U);
}

TEST_F(CLive, FailedSwapChangesNothing)
{
  auto const module = make_module();
  auto const* input = input_.get();
  succeed(fatlink_live_module_swap(module.get(), &input, 1, nullptr));
  report_.size = 0;
  fail_usage(fatlink_live_module_swap(module.get(), &input, 1, &report_),
             "the size of report is 0");
  fail_usage(fatlink_live_module_swap(module.get(), nullptr, 1, nullptr), "inputs is NULL");
  EXPECT_EQ(fatlink_live_module_version(module.get()), 1U);
}

TEST_F(CLive, PlanRunsThePublishedVersion)
{
  auto const plan = make_plan();
  auto const given = arguments();
  fail_usage(fatlink_live_plan_run(plan.get(), nullptr, given.data(), given.size(), 0, 0),
             "no version is published");
  EXPECT_EQ(fatlink_live_plan_version(plan.get()), 0U);
  swap(plan.get());
  EXPECT_EQ(report_.version, 1U);
  EXPECT_EQ(fatlink_live_plan_version(plan.get()), 1U);
  succeed(fatlink_live_plan_run(plan.get(), nullptr, given.data(), given.size(), 0, 0));
  EXPECT_EQ(sum_, k_sum);
  std::size_t bytes = 0;
  succeed(fatlink_live_plan_scratch_bytes(plan.get(), &given[2], 1, &bytes));
  EXPECT_EQ(bytes, 4U * 64 * 4);
}

TEST_F(CLive, PlanDescribesTheArgumentsOfCalls)
{
  auto const plan = make_plan();
  fatlink_plan_argument argument = {};
  argument.size = sizeof argument;
  EXPECT_EQ(fatlink_live_plan_argument_count(plan.get()), 0U);
  fail_usage(fatlink_live_plan_get_argument(plan.get(), 0, &argument), "no version is published");
  swap(plan.get());
  auto const count = fatlink_live_plan_argument_count(plan.get());
  std::map<std::string, fatlink_plan_argument> all;
  for (std::size_t i = 0; i < count; ++i) {
    succeed(fatlink_live_plan_get_argument(plan.get(), i, &argument));
    all[argument.name] = argument;
  }
  EXPECT_EQ(all.size(), 6U);
  EXPECT_FALSE(all.contains("partial"));  // a scratch array
  swap(plan.get());
  EXPECT_EQ(all["in"].role, FATLINK_ROLE_INPUT);
  EXPECT_STREQ(all["in"].name, "in");
  EXPECT_STREQ(all["in"].type_name, "float32");
  EXPECT_EQ(all["in"].alignment, 4U);
  fail_usage(fatlink_live_plan_get_argument(plan.get(), count, &argument), "index 6 is too large");
}

TEST_F(CLive, PlanGivesExtents)
{
  auto const plan = make_plan();
  auto const size = value("n", &count_, sizeof count_);
  std::uint64_t extent = 0;
  std::size_t dimensions = 0;
  fail_usage(fatlink_live_plan_extents(plan.get(), &size, 1, "in", &extent, 1, &dimensions),
             "no version is published");
  swap(plan.get());
  succeed(fatlink_live_plan_extents(plan.get(), &size, 1, "in", &extent, 1, &dimensions));
  EXPECT_EQ(dimensions, 1U);
  EXPECT_EQ(extent, 1000U);
  fail_usage(fatlink_live_plan_extents(plan.get(), &size, 1, "x", nullptr, 0, &dimensions),
             "plan weighted_sum has no array x");
}

TEST_F(CLive, PlanIsBound)
{
  auto const plan = make_plan();
  swap(plan.get());
  auto const scratch = allocate(4 * 64 * 4);
  c_call call;
  {
    auto const given = arguments();
    succeed(fatlink_live_plan_bind(plan.get(), given.data(), given.size(),
                                   fatlink_buffer_address(scratch.get()),
                                   fatlink_buffer_bytes(scratch.get()), result_of(call)));
  }
  swap(plan.get());
  succeed(fatlink_call_run(call.get(), nullptr));
  EXPECT_EQ(sum_, k_sum);
}

TEST_F(CLive, RefusesNull)
{
  fatlink_live_module* module = nullptr;
  fatlink_live_kernel* kernel = nullptr;
  fatlink_live_plan* plan = nullptr;
  fatlink_call* call = nullptr;
  auto* const device = device_.get();
  auto* const linker = linker_.get();
  fail_usage(fatlink_live_module_create(nullptr, linker, nullptr, &module), "device is NULL");
  fail_usage(fatlink_live_module_create(device, nullptr, nullptr, &module), "linker is NULL");
  fail_usage(fatlink_live_module_create(device, linker, nullptr, nullptr), "module is NULL");
  fail_usage(fatlink_live_module_swap(nullptr, nullptr, 0, nullptr), "module is NULL");
  fail_usage(fatlink_live_module_kernel(nullptr, "x", &kernel), "module is NULL");
  fail_usage(fatlink_live_module_kernel(make_module().get(), "x", &kernel),
             "no version is published");
  fail_usage(fatlink_live_kernel_launch(nullptr, nullptr, nullptr, nullptr, 0), "kernel is NULL");
  fail_usage(fatlink_live_plan_create(device, linker, nullptr, nullptr), "plan is NULL");
  fail_usage(fatlink_live_plan_create(nullptr, linker, nullptr, &plan), "device is NULL");
  fail_usage(fatlink_live_plan_swap(nullptr, nullptr, 0, nullptr), "plan is NULL");
  fail_usage(fatlink_live_plan_run(nullptr, nullptr, nullptr, 0, 0, 0), "plan is NULL");
  fail_usage(fatlink_live_plan_bind(nullptr, nullptr, 0, 0, 0, &call), "plan is NULL");
  fail_usage(fatlink_live_plan_scratch_bytes(nullptr, nullptr, 0, nullptr), "bytes is NULL");
  fail_usage(fatlink_live_plan_get_argument(plan, 0, nullptr), "argument is NULL");
  fail_usage(fatlink_live_plan_extents(plan, nullptr, 0, "in", nullptr, 0, nullptr),
             "dimensions is NULL");
  std::size_t dimensions = 0;
  fail_usage(fatlink_live_plan_extents(plan, nullptr, 0, "in", nullptr, 0, &dimensions),
             "plan is NULL");
  fail_usage(fatlink_live_plan_extents(plan, nullptr, 0, nullptr, nullptr, 0, &dimensions),
             "array is NULL");
  EXPECT_EQ(fatlink_live_kernel_parameter_count(kernel), 0U);
  EXPECT_EQ(fatlink_live_kernel_parameter_bytes(kernel, 0), 0U);
  EXPECT_EQ(fatlink_live_plan_argument_count(plan), 0U);
  EXPECT_EQ(fatlink_live_module_version(nullptr), 0U);
  EXPECT_EQ(fatlink_live_plan_version(nullptr), 0U);
  fatlink_live_module_free(nullptr);
  fatlink_live_kernel_free(nullptr);
  fatlink_live_plan_free(nullptr);
}
