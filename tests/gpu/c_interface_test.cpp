// SPDX-License-Identifier: Apache-2.0
// The C interface on a GPU: links, launches, a plan on a stream, and what a GPU refuses.
#include <array>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "c_plan_fixture.hpp"
#include "needs_nvjitlink.hpp"

using fixtures::c_buffer;
using fixtures::c_device;
using fixtures::c_image;
using fixtures::c_input;
using fixtures::c_kernel;
using fixtures::c_module;
using fixtures::c_plan;
using fixtures::c_stream;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class GpuCInterface : public fixtures::c_plans {
 protected:
  void SetUp() override
  {
    if (fatlink_gpu_count() == 0) GTEST_SKIP() << "the driver shows no GPU";
    if (auto const why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
    succeed(fatlink_device_open("gpu", nullptr, result_of(gpu_)));
    succeed(fatlink_stream_create(gpu_.get(), result_of(stream_)));
  }

  [[nodiscard]] c_buffer allocate_on_gpu(std::size_t bytes) const
  {
    c_buffer buffer;
    succeed(fatlink_buffer_allocate(gpu_.get(), bytes, result_of(buffer)));
    return buffer;
  }
  [[nodiscard]] void* stream() const { return fatlink_stream_handle(stream_.get()); }

  [[nodiscard]] c_module load_on_gpu() const
  {
    fatlink_link_options options = {};
    options.size = sizeof options;
    succeed(fatlink_device_link_options(gpu_.get(), FATLINK_MODE_PTX, &options));
    EXPECT_EQ(options.emit, FATLINK_IMAGE_CUBIN);
    auto const* const input = input_.get();
    c_image image;
    succeed(fatlink_link(linker_.get(), &input, 1, &options, result_of(image)));
    c_module module;
    succeed(fatlink_module_load(gpu_.get(), image.get(), result_of(module)));
    return module;
  }

  /// The number that the kernel writes.
  [[nodiscard]] int launch_store(fatlink_kernel const* kernel) const
  {
    auto const buffer = allocate_on_gpu(4);
    auto address = fatlink_buffer_address(buffer.get());
    void* const argument = &address;
    fatlink_launch_shape shape = {};
    shape.size = sizeof shape;
    succeed(fatlink_kernel_launch(kernel, stream(), &shape, &argument, 1));
    int value = 0;
    succeed(fatlink_buffer_read(buffer.get(), 0, &value, sizeof value, stream()));
    succeed(fatlink_synchronize(gpu_.get(), stream()));
    return value;
  }

  c_device gpu_;
  c_stream stream_;
};

}  // namespace

TEST_F(GpuCInterface, StatesTheFactsOfTheGpu)
{
  fatlink_device_info info = {};
  info.size = sizeof info;
  succeed(fatlink_device_get_info(gpu_.get(), &info));
  EXPECT_EQ(info.is_gpu, 1);
  EXPECT_EQ(info.ordinal, 0);
  EXPECT_STRNE(info.name, "");
  EXPECT_GT(info.memory_bytes, 0U);
}

TEST_F(GpuCInterface, LinksAndLaunches)
{
  auto const module = load_on_gpu();
  c_kernel kernel;
  succeed(fatlink_module_kernel(module.get(), "store", result_of(kernel)));
  EXPECT_NE(fatlink_module_handle(module.get()), nullptr);
  EXPECT_NE(fatlink_kernel_handle(kernel.get()), nullptr);
  EXPECT_NE(fatlink_kernel_cu_kernel(kernel.get()), nullptr);
  EXPECT_EQ(launch_store(kernel.get()), 42);
}

TEST_F(GpuCInterface, KeepsAnImageLoadedUntilItsKernelsAreFreed)
{
  auto module = load_on_gpu();
  c_kernel kernel;
  succeed(fatlink_module_kernel(module.get(), "store", result_of(kernel)));
  auto* const function = fatlink_kernel_handle(kernel.get());
  module.reset();
  EXPECT_EQ(fatlink_kernel_handle(kernel.get()), function);
  EXPECT_EQ(launch_store(kernel.get()), 42);
}

TEST_F(GpuCInterface, RunsAPlanOnAStream)
{
  auto const library = places::corpus("weighted_sum.fatbin");
  auto const* const transform = transform_.get();
  fatlink_plan_request request = {};
  request.size = sizeof request;
  request.library = library.c_str();
  request.transforms = &transform;
  request.transform_count = 1;
  c_plan plan;
  succeed(fatlink_plan_prepare(gpu_.get(), linker_.get(), &request, result_of(plan)));
  auto const bytes = sizeof(float) * values_.size();
  auto const in = allocate_on_gpu(bytes);
  auto const out = allocate_on_gpu(sizeof(float));
  succeed(fatlink_buffer_write(in.get(), 0, values_.data(), bytes, stream()));
  std::array const given{array("in", fatlink_buffer_address(in.get())),
                         array("out", fatlink_buffer_address(out.get())),
                         value("n", &count_, sizeof count_)};
  succeed(fatlink_plan_run(plan.get(), stream(), given.data(), given.size(), 0, 0));
  succeed(fatlink_buffer_read(out.get(), 0, &sum_, sizeof sum_, stream()));
  succeed(fatlink_synchronize(gpu_.get(), stream()));
  EXPECT_EQ(sum_, k_sum);
}

TEST_F(GpuCInterface, KeepsMemoryOverSynchronizations)
{
  fatlink_plan_request request = {};
  request.size = sizeof request;
  request.library = "reduce_4";
  c_input add;
  succeed(fatlink_input_find("add_float", result_of(add)));
  auto const* const transform = add.get();
  request.transforms = &transform;
  request.transform_count = 1;
  c_plan plan;
  succeed(fatlink_plan_prepare(gpu_.get(), linker_.get(), &request, result_of(plan)));
  constexpr std::size_t k_elements = 1U << 20U;
  auto const in = allocate_on_gpu(k_elements * sizeof(float));
  auto const out = allocate_on_gpu(sizeof(float));
  succeed(fatlink_buffer_fill(in.get(), 0, stream()));
  std::array given{array("in", fatlink_buffer_address(in.get())),
                   array("out", fatlink_buffer_address(out.get()))};
  given[0].count = k_elements;
  auto const run = [&] {
    succeed(fatlink_plan_run(plan.get(), stream(), given.data(), given.size(), 0, 0));
    succeed(fatlink_synchronize(gpu_.get(), stream()));
  };
  auto const pool = [&] {
    fatlink_memory_pool state = {};
    state.size = sizeof state;
    succeed(fatlink_device_get_memory_pool(gpu_.get(), &state));
    return state;
  };
  run();
  auto const kept = pool();
  EXPECT_GT(kept.limit_bytes, kept.reserved_bytes);
  EXPECT_GT(kept.reserved_bytes, 0U);
  EXPECT_EQ(kept.used_bytes, 0U);
  run();
  EXPECT_EQ(pool().reserved_bytes, kept.reserved_bytes);
  succeed(fatlink_device_trim_memory_pool(gpu_.get(), 0));
  EXPECT_EQ(pool().reserved_bytes, 0U);
  succeed(fatlink_device_limit_memory_pool(gpu_.get(), 0));
  run();
  EXPECT_EQ(pool().reserved_bytes, 0U);
  succeed(fatlink_device_limit_memory_pool(gpu_.get(), kept.limit_bytes));
}

TEST_F(GpuCInterface, SaysThatMemoryIsMissing)
{
  fatlink_buffer* buffer = nullptr;
  fail(fatlink_buffer_allocate(gpu_.get(), std::size_t{1} << 50, &buffer), FATLINK_ERROR_MEMORY,
       "allocating 1125899906842624 bytes");
}

TEST_F(GpuCInterface, LocatesMemory)
{
  auto buffer = allocate_on_gpu(std::size_t{1} << 26);
  auto const address = fatlink_buffer_address(buffer.get());
  std::int32_t ordinal = 7;
  fatlink_memory_kind kind = 0;
  succeed(fatlink_address_get_device(address + 8, &ordinal, &kind));
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(kind, FATLINK_MEMORY_DEVICE);
  succeed(fatlink_address_get_device(address, &ordinal, nullptr));
  std::thread([&] {  // a thread without a context
    succeed(fatlink_address_get_device(address, &ordinal, &kind));
    EXPECT_EQ(kind, FATLINK_MEMORY_DEVICE);
  })
      .join();
  buffer.reset();
  fail_usage(fatlink_address_get_device(address, &ordinal, &kind), "is not in memory of CUDA");
}

TEST_F(GpuCInterface, RefusesToMapMemoryOfTheHost)
{
  fatlink_buffer* buffer = nullptr;
  fail_usage(fatlink_buffer_map_host(gpu_.get(), &sum_, sizeof sum_, 0, &buffer),
             "only the reference device can");
}

TEST_F(GpuCInterface, RefusesAnImageForTheReferenceDevice)
{
  fatlink_module* module = nullptr;
  fail(fatlink_module_load(gpu_.get(), link().get(), &module), FATLINK_ERROR_DEVICE,
       "and this device loads cubins only");
}
