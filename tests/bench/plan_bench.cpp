// SPDX-License-Identifier: Apache-2.0
// What a call by a launch plan costs the host: through a bound plan, through prepared_plan::run,
// and through cuLaunchKernel with the same kernel and arguments. Each iteration queues 128 calls on
// one stream, fewer than a stream holds before it blocks, and waits for them outside of the
// measured time; per_call is the time of one of them. Without a GPU only the calls that launch
// nothing are measured, on the reference device: what checking and computing the arguments takes.
#include <benchmark/benchmark.h>
#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <memory>

#include "fatlink/prepare.hpp"

using namespace fatlink;

namespace {

constexpr int k_calls = 128;           // of an iteration
constexpr std::size_t k_count = 1024;  // elements: one block
constexpr unsigned k_block = 256;      // threads, as the plan states

/// The functions of the driver that the raw launches need.
class driver {
 public:
  driver()
      : library_(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)),
        launch_(find<decltype(&cuLaunchKernel)>("cuLaunchKernel"))
  {
    auto const retain = find<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
    auto const set = find<decltype(&cuCtxSetCurrent)>("cuCtxSetCurrent");
    CUcontext context = nullptr;
    if (retain != nullptr && set != nullptr && retain(&context, 0) == CUDA_SUCCESS) set(context);
  }
  [[nodiscard]] bool launch(CUfunction kernel, CUstream stream, void** parameters) const
  {
    return launch_(kernel, 1, 1, 1, k_block, 1, 1, 0, stream, parameters, nullptr) == CUDA_SUCCESS;
  }

 private:
  template <typename Function>
  [[nodiscard]] Function find(char const* name) const
  {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library_, name));
  }

  void* library_;
  decltype(&cuLaunchKernel) launch_;
};

/// The library convert, ready to be called on one device: float to float, without states.
struct conversion {
  explicit conversion(char const* device_name)
      : target(open_device(device_name)),
        plan(prepare(*target, linker_,
                     {.library = FATLINK_DATA_DIR "/convert.fatbin",
                      .transforms = {FATLINK_DATA_DIR "/load_float32.fatbin",
                                     FATLINK_DATA_DIR "/store_float32.fatbin"}})),
        module(target->load(plan.image())),
        in(target->allocate<float>(k_count)),
        out(target->allocate<float>(k_count)),
        queue(target->create_stream())
  {
  }

 private:
  linker linker_;

 public:
  std::shared_ptr<device> target;
  prepared_plan plan;
  loaded_module module;
  device_buffer<float> in;
  device_buffer<float> out;
  stream queue;
};

/// Measures `call` in batches; the caller's stream is empty when a batch begins.
template <typename Call>
void measure(benchmark::State& state, conversion& setup, Call const& call)
{
  using clock = std::chrono::steady_clock;
  for (auto _ : state) {
    auto const start = clock::now();
    for (int i = 0; i < k_calls; ++i) call();
    auto const queued = clock::now();
    setup.queue.synchronize();
    state.SetIterationTime(std::chrono::duration<double>(queued - start).count());
  }
  state.counters["per_call"] = benchmark::Counter(
      k_calls, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void measure_bound(benchmark::State& state, conversion& setup, std::size_t count)
{
  auto const call = setup.plan.bind({{"in", setup.in.data()},
                                     {"out", setup.out.data()},
                                     {"n", count},
                                     {"load_state", nullptr},
                                     {"store_state", nullptr}});
  measure(state, setup, [&] { call.run(setup.queue); });
}

void measure_prepared(benchmark::State& state, conversion& setup, std::size_t count)
{
  measure(state, setup, [&] {
    setup.plan.run(setup.queue, {{"in", setup.in.data()},
                                 {"out", setup.out.data()},
                                 {"n", count},
                                 {"load_state", nullptr},
                                 {"store_state", nullptr}});
  });
}

/// Skips the benchmark, with the reason, if there is no GPU.
template <typename Body>
void on_gpu(benchmark::State& state, Body const& body)
try {
  static driver const functions;
  static conversion setup("gpu");
  body(functions, setup);
} catch (unavailable_error const& missing) {
  state.SkipWithError(missing.what());
}

void raw_launch(benchmark::State& state)
{
  on_gpu(state, [&](driver const& functions, conversion& setup) {
    using signature = void(void const*, void*, std::size_t, void const*, void const*);
    auto const kernel = setup.module.kernel<signature>("convert");
    auto* const function = static_cast<CUfunction>(kernel.native_handle());
    auto* const queue = static_cast<CUstream>(setup.queue.native_handle());
    auto in = setup.in.address();
    auto out = setup.out.address();
    auto count = k_count;
    device_address none = 0;
    std::array<void*, 5> parameters{&in, &out, &count, &none, &none};
    auto is_launched = true;
    measure(state, setup,
            [&] { is_launched &= functions.launch(function, queue, parameters.data()); });
    if (!is_launched) state.SkipWithError("cuLaunchKernel failed");
  });
}
BENCHMARK(raw_launch)->UseManualTime();

void bound_plan_run(benchmark::State& state)
{
  on_gpu(state, [&](driver const&, conversion& setup) { measure_bound(state, setup, k_count); });
}
BENCHMARK(bound_plan_run)->UseManualTime();

void prepared_plan_run(benchmark::State& state)
{
  on_gpu(state, [&](driver const&, conversion& setup) { measure_prepared(state, setup, k_count); });
}
BENCHMARK(prepared_plan_run)->UseManualTime();

/// No elements, so the plan's grid has no blocks and nothing is launched.
void bound_plan_without_a_launch(benchmark::State& state)
{
  conversion setup("cpu");
  measure_bound(state, setup, 0);
}
BENCHMARK(bound_plan_without_a_launch)->UseManualTime();

void prepared_plan_without_a_launch(benchmark::State& state)
{
  conversion setup("cpu");
  measure_prepared(state, setup, 0);
}
BENCHMARK(prepared_plan_without_a_launch)->UseManualTime();

}  // namespace

BENCHMARK_MAIN();
