// SPDX-License-Identifier: Apache-2.0
// Calls do not change the context that is current to the calling thread: here a second one of the
// same GPU, in which nothing of the primary context is valid. The CUkernel of an image runs in
// other contexts as well: in the second one, and in a green context.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <thread>

#include "device/cuda_driver.hpp"
#include "device/gpu_memory.hpp"
#include "fatlink/device.hpp"
#include "live_fixture.hpp"
#include "needs_nvjitlink.hpp"

using namespace fatlink;

namespace {

/// A function of the driver that fatlink does not call.
template <typename Function>
Function find_in_driver(char const* name)
{
  static auto* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(::dlsym(library, name));
}

/// A context of its own, which is current to the calling thread while this object lives.
class second_context {
 public:
  second_context()
      : create_(find_in_driver<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")),
        destroy_(find_in_driver<CUresult (*)(CUcontext)>("cuCtxDestroy_v2"))
  {
    auto const& api = detail::driver::open();
    CUdevice gpu = 0;
    api.check(api.device_get(&gpu, 0), "opening", "gpu:0");
    api.check(create_(&context_, 0, gpu), "creating a second context");
  }
  ~second_context() { (void)destroy_(context_); }
  second_context(second_context const&) = delete;
  second_context& operator=(second_context const&) = delete;

  [[nodiscard]] CUcontext handle() const noexcept { return context_; }

 private:
  CUresult (*create_)(CUcontext*, unsigned, CUdevice);
  CUresult (*destroy_)(CUcontext);
  CUcontext context_ = nullptr;
};

/// A green context with all multiprocessors, and a stream of it.
class green_context {
 public:
  green_context()
  {
    auto const& api = detail::driver::open();
    auto const gpu = detail::gpu_handle(api, 0);
    CUdevResource resource{};
    api.check(find_in_driver<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource")(
                  gpu, &resource, CU_DEV_RESOURCE_TYPE_SM),
              "reading multiprocessors");
    CUdevResourceDesc description = nullptr;
    api.check(find_in_driver<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc")(
                  &description, &resource, 1),
              "describing multiprocessors");
    api.check(find_in_driver<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate")(
                  &context_, description, gpu, CU_GREEN_CTX_DEFAULT_STREAM),
              "creating a green context");
    api.check(find_in_driver<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate")(
                  &stream_, context_, CU_STREAM_NON_BLOCKING, 0),
              "creating a stream of a green context");
  }
  ~green_context()
  {
    (void)detail::driver::open().stream_destroy(stream_);
    (void)find_in_driver<decltype(&cuGreenCtxDestroy)>("cuGreenCtxDestroy")(context_);
  }
  green_context(green_context const&) = delete;
  green_context& operator=(green_context const&) = delete;

  [[nodiscard]] CUstream stream() const noexcept { return stream_; }

 private:
  CUgreenCtx context_ = nullptr;
  CUstream stream_ = nullptr;
};

/// Launches a kernel `void(int*)` with one thread, by its CUkernel.
void launch_native(untyped_kernel const& code, CUstream stream, CUdeviceptr address)
{
  auto const& api = detail::driver::open();
  std::array<void*, 1> arguments{&address};
  api.check(api.launch_kernel(reinterpret_cast<CUfunction>(code.native_kernel()), 1, 1, 1, 1, 1, 1,
                              0, stream, arguments.data(), nullptr),
            "launching a CUkernel");
  api.check(api.stream_synchronize(stream), "waiting for a CUkernel");
}

CUcontext current_context()
{
  auto const& api = detail::driver::open();
  CUcontext context = nullptr;
  api.check(api.context_get_current(&context), "reading the current context");
  return context;
}

class CurrentContext : public testing::Test {
 protected:
  void SetUp() override
  {
    std::string reason;
    if (list_gpus(reason).empty()) GTEST_SKIP() << reason;
    if (reason = fixtures::why_no_nvjitlink(); !reason.empty()) GTEST_SKIP() << reason;
    other_.emplace();
    expect_unchanged("open_device", [&] { device_ = open_device("gpu"); });
  }

  /// Calls `work` and expects that the second context is current then.
  template <typename Work>
  void expect_unchanged(char const* action, Work const& work) const
  {
    work();
    EXPECT_EQ(current_context(), other_->handle()) << "after " << action;
  }

  std::optional<second_context> other_;
  std::shared_ptr<device> device_;
};

}  // namespace

TEST_F(CurrentContext, StaysAfterCallsWithMemoryAndStreams)
{
  std::optional<stream> queue;
  std::optional<device_buffer<float>> buffer;
  std::array values{1.0F, 2.0F};
  expect_unchanged("create_stream", [&] { queue = device_->create_stream(); });
  expect_unchanged("allocate", [&] { buffer = device_->allocate<float>(values.size()); });
  expect_unchanged("write", [&] { buffer->write(values); });
  expect_unchanged("write on a stream", [&] { buffer->write(values, *queue); });
  expect_unchanged("fill", [&] { buffer->fill(std::byte{0}, *queue); });
  expect_unchanged("synchronize", [&] { queue->synchronize(); });
  expect_unchanged("read", [&] { buffer->read(values); });
  EXPECT_EQ(values[0], 0.0F);
  expect_unchanged("freeing memory", [&] { buffer.reset(); });
  expect_unchanged("freeing a stream", [&] { queue.reset(); });
}

TEST_F(CurrentContext, StaysAfterCallsWithEvents)
{
  std::optional<event> start;
  std::optional<event> stop;
  expect_unchanged("create_event", [&] { start = device_->create_event(); });
  stop = device_->create_event();
  expect_unchanged("record", [&] { start->record(stream_view(nullptr)); });
  stop->record(stream_view(nullptr));
  expect_unchanged("ms_since", [&] { EXPECT_GE(stop->ms_since(*start), 0.0); });
  expect_unchanged("freeing events", [&] { start.reset(), stop.reset(); });
}

TEST_F(CurrentContext, StaysAfterCallsWithTextures)
{
  std::optional<device_array> array;
  std::optional<texture> reader;
  std::optional<surface> writer;
  texel_format const format{.type = channel_type::u8, .channels = 1};
  std::array<std::byte, 4> texels{};
  expect_unchanged("create_array", [&] {
    array = device_->create_array(format, {.width = texels.size(), .allows_surface = true});
  });
  expect_unchanged("writing texels", [&] { array->write(texels); });
  expect_unchanged("reading texels", [&] { array->read(texels); });
  expect_unchanged("create_texture", [&] { reader = device_->create_texture(*array); });
  expect_unchanged("create_surface", [&] { writer = device_->create_surface(*array); });
  expect_unchanged("freeing a texture", [&] { reader.reset(); });
  expect_unchanged("freeing a surface", [&] { writer.reset(); });
  expect_unchanged("freeing an array", [&] { array.reset(); });
}

TEST_F(CurrentContext, StaysAfterALinkAndALaunch)
{
  std::optional<loaded_module> module;
  std::optional<kernel<void(int*)>> store;
  auto out = device_->allocate<int>(1);
  linker links;
  expect_unchanged("link_and_load", [&] {
    module = link_and_load(*device_, links, fixtures::store_inputs(7), link_mode::ptx);
  });
  expect_unchanged("finding a kernel", [&] { store = module->kernel<void(int*)>("store"); });
  expect_unchanged("attributes", [&] { (void)store->attributes(); });
  expect_unchanged("suggest_block_size", [&] { (void)store->suggest_block_size(); });
  expect_unchanged(
      "launch", [&] { store->launch(stream_view(nullptr), {.grid = 1, .block = 1}, out.data()); });
  int value = 0;
  out.read(std::span(&value, 1));
  EXPECT_EQ(value, 7);
  expect_unchanged("unloading a module", [&] { module.reset(), store.reset(); });
}

TEST_F(CurrentContext, StaysAfterSwapsOfLiveModules)
{
  std::optional<fixtures::live_store> live;
  std::optional<fixtures::live_store::store_kernel> store;
  expect_unchanged("creating a live module", [&] { live.emplace(*device_); });
  expect_unchanged("a first swap", [&] { live->live.swap(fixtures::store_inputs(1)); });
  expect_unchanged("finding a kernel", [&] { store = live->kernel(); });
  expect_unchanged("a launch", [&] { EXPECT_EQ(live->launch(*store), 1); });
  expect_unchanged("a second swap", [&] { live->live.swap(fixtures::store_inputs(2)); });
  expect_unchanged("a launch", [&] { EXPECT_EQ(live->launch(*store), 2); });
  expect_unchanged("freeing a live module", [&] { store.reset(), live.reset(); });
}

TEST_F(CurrentContext, MayBeTheOneInWhichACukernelRuns)
{
  linker links;
  auto const module = link_and_load(*device_, links, fixtures::store_inputs(7), link_mode::ptx);
  auto const code = module.find_kernel("store");
  auto const& api = detail::driver::open();
  CUdeviceptr out = 0;
  api.check(api.mem_alloc(&out, sizeof(int)), "allocating in the second context");
  launch_native(code, nullptr, out);
  int value = 0;
  api.check(api.copy_out(&value, out, sizeof value), "reading");
  (void)api.mem_free(out);
  EXPECT_EQ(value, 7);
}

TEST_F(CurrentContext, MayDifferFromTheGreenOneInWhichACukernelRuns)
{
  linker links;
  auto const module = link_and_load(*device_, links, fixtures::store_inputs(7), link_mode::ptx);
  auto const out = device_->allocate<int>(1);
  green_context const green;
  expect_unchanged("launching in a green context", [&] {
    launch_native(module.find_kernel("store"), green.stream(), out.address());
  });
  int value = 0;
  out.read(std::span(&value, 1));
  EXPECT_EQ(value, 7);
}

TEST_F(CurrentContext, DoesNotHideAddressesOfThePrimaryOne)
{
  auto const buffer = device_->allocate<float>(1);
  expect_unchanged("locating an address", [&] {
    EXPECT_EQ(detail::locate(detail::driver::open(), buffer.address()).ordinal, 0);
  });
}

TEST_F(CurrentContext, StaysAfterACallThatFails)
{
  constexpr auto k_too_much = std::size_t{1} << 50;
  EXPECT_THROW((void)device_->allocate<char>(k_too_much), device_error);
  EXPECT_EQ(current_context(), other_->handle());
}

/// A thread without a context, as most are.
TEST_F(CurrentContext, IsThePrimaryOneInAThreadThatHadNone)
{
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  std::thread([&] {
    auto const buffer = device_->allocate<float>(1);
    first = current_context();
    device_->synchronize(stream_view(nullptr));
    second = current_context();
  }).join();
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, other_->handle());
  EXPECT_EQ(second, first);
}
