// SPDX-License-Identifier: Apache-2.0
// Calls while a stream is captured into a CUDA graph, in each mode of the capture, for streams that
// wait for the default stream and streams that do not: the first use of a device and of an
// algorithm, which links, loads and launches, becomes part of the graph.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
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
  decltype(&::cuMemHostRegister) lock_pages =
      find<decltype(lock_pages)>(library, "cuMemHostRegister_v2");
  decltype(&::cuMemHostUnregister) unlock_pages =
      find<decltype(unlock_pages)>(library, "cuMemHostUnregister");
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

/// The mode of a capture, and the flags of its stream.
using capture_kind = std::tuple<CUstreamCaptureMode, unsigned>;

/// Expects a device_error with `text`, and the advice to make the call before or after the capture.
template <typename Call>
void expect_refused(Call const& call, char const* text)
{
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (device_error const& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr(text));
    EXPECT_THAT(failure.details().hint, testing::HasSubstr("before or after the capture"));
  }
}

class Captures : public testing::TestWithParam<capture_kind> {
 protected:
  void SetUp() override
  {
    std::string why;
    if (list_gpus(why).empty()) GTEST_SKIP() << why;
    if (why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
    device_ = open_device("gpu");
    in_.emplace(device_->allocate<float>(k_captured_count));
    out_.emplace(device_->allocate<float>(1));
    std::vector<float> values(k_captured_count);
    std::iota(values.begin(), values.end(), 1.0F);
    in_->write(values);
    auto const& api = detail::driver::open();
    api.check(api.stream_create(&handle_, std::get<unsigned>(GetParam())), "creating a stream");
  }
  void TearDown() override
  {
    if (handle_ != nullptr) (void)detail::driver::open().stream_destroy(handle_);
  }

  [[nodiscard]] stream_view stream() const { return stream_view(handle_); }
  [[nodiscard]] captured_graph capture() const
  {
    return {handle_, std::get<CUstreamCaptureMode>(GetParam())};
  }
  /// Whether captures make the default stream unusable.
  [[nodiscard]] static bool is_blocking()
  {
    return std::get<unsigned>(GetParam()) == CU_STREAM_DEFAULT;
  }

  /// Links without a cache, loads and launches.
  void reduce(device const& destination)
  {
    linker links;
    plan_ = prepare(destination, links,
                    {.library = places::data("reduce_4.fatbin"),
                     .transforms = {places::data("max_float.fatbin")}});
    plan_->run(stream(), {{"in", *in_}, {"out", *out_}, {"init", 0.0F}});
  }

  [[nodiscard]] float result()
  {
    std::array<float, 1> values{};
    out_->read(values);
    return values[0];
  }

  std::shared_ptr<device> device_;
  CUstream handle_ = nullptr;
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
  expect_refused([&] { device_->backend()->synchronize(handle_); },
                 "is being captured into a CUDA graph");
  reduce(*device_);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, OfBlockingStreamsContinueAfterTheRefusalToUseTheDefaultStream)
{
  if (!is_blocking()) GTEST_SKIP() << "captures of this stream permit use of the default stream";
  auto graph = capture();
  constexpr auto k_code = "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT";
  auto& backend = *device_->backend();
  std::array values{1.0F};
  expect_refused([&] { backend.synchronize(nullptr); }, k_code);
  expect_refused([&] { (void)backend.describe_stream(nullptr); }, k_code);
  expect_refused([&] { out_->write(values); }, k_code);
  expect_refused([&] { out_->write(values, stream_view(nullptr)); }, k_code);
  expect_refused([&] { out_->read(values); }, k_code);
  expect_refused([&] { out_->fill(std::byte{0}); }, k_code);
  reduce(*device_);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, OfOtherStreamsPermitUseOfTheDefaultStream)
{
  if (is_blocking()) GTEST_SKIP() << "captures of this stream make the default stream unusable";
  auto graph = capture();
  std::array values{5.0F};
  out_->write(values);
  out_->fill(std::byte{0});
  EXPECT_EQ(result(), 0.0F);
  device_->backend()->synchronize(nullptr);
  reduce(*device_);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, ContinueAfterTheRefusalToCopyFromAndToPageableMemory)
{
  auto graph = capture();
  std::array values{1.0F};
  expect_refused([&] { out_->write(values, stream()); }, "the host memory is not page-locked");
  expect_refused([&] { out_->read(values, stream()); }, "the host memory is not page-locked");
  reduce(*device_);
  graph.launch();
  EXPECT_EQ(result(), static_cast<float>(k_captured_count));
}

TEST_P(Captures, HaveCopiesFromAndToPageLockedMemory)
{
  graph_driver const api;
  auto const& checked = detail::driver::open();
  std::array values{1.0F, 0.0F};
  checked.check(api.lock_pages(values.data(), sizeof values, 0), "page-locking memory");
  {
    auto graph = capture();
    out_->write(std::span(values).first(1), stream());
    out_->read(std::span(values).last(1), stream());
    values[0] = 2;  // read when the graph is launched
    graph.launch();
  }
  checked.check(api.unlock_pages(values.data()), "unlocking memory");
  EXPECT_EQ(values[1], 2.0F);
}

TEST_P(Captures, HaveTheFirstLaunchOfALiveModule)
{
  auto out = device_->allocate<int>(1);
  auto graph = capture();
  live_module module(*device_, linker(), {.link = device_->link_options(link_mode::ptx)});
  module.swap(fixtures::store_inputs(9));
  auto const store = module.kernel<void(int*)>("store");
  store.launch(stream(), {.grid = 1, .block = 1}, out.data());
  graph.launch();
  std::array values{0};
  out.read(values);
  EXPECT_EQ(values[0], 9);
}

namespace {

std::string name_of_kind(testing::TestParamInfo<capture_kind> const& info)
{
  auto const [mode, flags] = info.param;
  std::string const stream = flags == CU_STREAM_DEFAULT ? "Blocking" : "NonBlocking";
  if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL) return "Global" + stream;
  return (mode == CU_STREAM_CAPTURE_MODE_RELAXED ? "Relaxed" : "ThreadLocal") + stream;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Kinds, Captures,
                         testing::Combine(testing::Values(CU_STREAM_CAPTURE_MODE_GLOBAL,
                                                          CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                          CU_STREAM_CAPTURE_MODE_RELAXED),
                                          testing::Values(CU_STREAM_NON_BLOCKING,
                                                          CU_STREAM_DEFAULT)),
                         name_of_kind);

}  // namespace fatlink
