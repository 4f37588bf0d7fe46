// SPDX-License-Identifier: Apache-2.0
// Calls while a stream is captured into a CUDA graph, in each mode of the capture: the first use of
// a device and of an algorithm, which links, loads and launches, becomes part of the graph.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "device/cuda_driver.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/live_module.hpp"
#include "fatlink/prepare.hpp"
#include "live_fixture.hpp"
#include "needs_nvjitlink.hpp"
#include "places.hpp"

namespace fatlink {
namespace {

/// The functions for graphs, which fatlink does not use.
struct graph_driver {
  template <typename Function>
  static Function find(void* library, char const* name)
  {
    return reinterpret_cast<Function>(::dlsym(library, name));
  }

  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  decltype(&::cuStreamBeginCapture) begin =
      find<decltype(begin)>(library, "cuStreamBeginCapture_v2");
  decltype(&::cuStreamEndCapture) end = find<decltype(end)>(library, "cuStreamEndCapture");
  decltype(&::cuGraphInstantiateWithFlags) instantiate =
      find<decltype(instantiate)>(library, "cuGraphInstantiateWithFlags");
  decltype(&::cuGraphLaunch) launch = find<decltype(launch)>(library, "cuGraphLaunch");
  decltype(&::cuGraphExecDestroy) destroy_executable =
      find<decltype(destroy_executable)>(library, "cuGraphExecDestroy");
  decltype(&::cuGraphDestroy) destroy = find<decltype(destroy)>(library, "cuGraphDestroy");
};

/// A capture of a stream, from construction to launch() or destruction.
class captured_graph {
 public:
  captured_graph(CUstream stream, CUstreamCaptureMode mode) : stream_(stream)
  {
    check(api_.begin(stream_, mode), "beginning a capture");
  }
  ~captured_graph()
  {
    if (graph_ == nullptr) (void)api_.end(stream_, &graph_);
    if (executable_ != nullptr) (void)api_.destroy_executable(executable_);
    if (graph_ != nullptr) (void)api_.destroy(graph_);
  }
  captured_graph(captured_graph const&) = delete;
  captured_graph& operator=(captured_graph const&) = delete;

  /// Ends the capture, executes the graph once, and waits for it.
  void launch()
  {
    check(api_.end(stream_, &graph_), "ending a capture");
    check(api_.instantiate(&executable_, graph_, 0), "instantiating a graph");
    check(api_.launch(executable_, stream_), "launching a graph");
    check(detail::driver::open().stream_synchronize(stream_), "waiting for a graph");
  }

 private:
  static void check(CUresult code, char const* action)
  {
    detail::driver::open().check(code, action);
  }

  graph_driver api_;
  CUstream stream_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

constexpr std::size_t k_captured_count =
    100'000;  // more than one block, so that the plan has scratch arrays

class Captures : public testing::TestWithParam<CUstreamCaptureMode> {
 protected:
  void SetUp() override
  {
    std::string why;
    if (list_gpus(why).empty()) GTEST_SKIP() << why;
    if (why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
    device_ = open_device("gpu");
    stream_.emplace(device_->create_stream());
    in_.emplace(device_->allocate<float>(k_captured_count));
    out_.emplace(device_->allocate<float>(1));
    std::vector<float> values(k_captured_count);
    std::iota(values.begin(), values.end(), 1.0F);
    in_->write(values);
  }

  [[nodiscard]] CUstream handle() const { return static_cast<CUstream>(stream_->native_handle()); }
  [[nodiscard]] captured_graph capture() const { return {handle(), GetParam()}; }

  /// Links without a cache, loads and launches.
  void reduce(device const& destination)
  {
    linker links;
    plan_ = prepare(destination, links,
                    {.library = places::data("reduce_4.fatbin"),
                     .transforms = {places::data("max_float.fatbin")}});
    plan_->run(*stream_, {{"in", *in_}, {"out", *out_}, {"init", 0.0F}});
  }

  [[nodiscard]] float result()
  {
    std::array<float, 1> values{};
    out_->read(values);
    return values[0];
  }

  std::shared_ptr<device> device_;
  std::optional<stream> stream_;
  std::optional<device_buffer<float>> in_;
  std::optional<device_buffer<float>> out_;
  std::optional<prepared_plan> plan_;
};

}  // namespace

TEST_P(Captures, HaveTheFirstUseOfAnAlgorithm)
{
  auto graph = capture();
  reduce(*device_);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, HaveTheFirstUseOfADevice)
{
  auto graph = capture();
  auto const opened = open_device("gpu");
  reduce(*opened);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, ContinueThoughMemoryStreamsAndEventsAreMade)
{
  auto graph = capture();
  auto other = device_->create_stream();
  {
    auto buffer = device_->allocate<float>(2);
    std::array values{3.0F, 4.0F};
    buffer.write(values, other);
    buffer.read(values, other);
    other.synchronize();
    auto start = device_->create_event();
    auto stop = device_->create_event();
    start.record(other);
    stop.record(other);
    EXPECT_GE(stop.ms_since(start), 0.0);
  }
  reduce(*device_);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, ContinueThoughAnotherThreadLoadsAndUnloads)
{
  auto graph = capture();
  reduce(*device_);
  std::thread([&] {
    linker links;
    auto const module = link_and_load(*device_, links, fixtures::store_inputs(7), link_mode::ptx);
    auto out = device_->allocate<int>(1);
    auto queue = device_->create_stream();
    module.kernel<void(int*)>("store").launch(queue, {.grid = 1, .block = 1}, out.data());
    std::array values{0};
    out.read(values, queue);
    queue.synchronize();
    EXPECT_EQ(values[0], 7);
  }).join();
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, ContinueAfterTheRefusalToWaitForTheirStream)
{
  auto graph = capture();
  try {
    stream_->synchronize();
    ADD_FAILURE() << "no error";
  } catch (device_error const& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr("is being captured into a CUDA graph"));
    EXPECT_THAT(failure.details().hint, testing::HasSubstr("before or after the capture"));
  }
  reduce(*device_);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, HaveTheFirstLaunchOfALiveModule)
{
  auto out = device_->allocate<int>(1);
  auto graph = capture();
  live_module module(*device_, linker(), {.link = device_->link_options(link_mode::ptx)});
  module.swap(fixtures::store_inputs(9));
  auto const store = module.kernel<void(int*)>("store");
  store.launch(*stream_, {.grid = 1, .block = 1}, out.data());
  graph.launch();
  std::array values{0};
  out.read(values);
  EXPECT_EQ(values[0], 9);
}

namespace {

std::string name_of_mode(testing::TestParamInfo<CUstreamCaptureMode> const& mode)
{
  if (mode.param == CU_STREAM_CAPTURE_MODE_GLOBAL) return "Global";
  return mode.param == CU_STREAM_CAPTURE_MODE_RELAXED ? "Relaxed" : "ThreadLocal";
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Modes, Captures,
                         testing::Values(CU_STREAM_CAPTURE_MODE_GLOBAL,
                                         CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                         CU_STREAM_CAPTURE_MODE_RELAXED),
                         name_of_mode);

}  // namespace fatlink
