// SPDX-License-Identifier: Apache-2.0
// Stress test of live modules: threads launch while others swap between two transforms, swaps are
// broken and helpers killed. Each element of each launch must belong to exactly one of the two.
//   live_stress [--device cpu|gpu] [--launches N] [--threads N] [--swaps N] [--broken N]
//               [--killed N] [--elements N] [--batch N]
// --batch: launches of a thread whose results are read together. States each phase and its time on
// standard error. Prints one JSON object: counts, latencies of launches without and with swaps,
// memory of host and device at begin and end. Exit status: 0 if every launch and swap was right,
// else 1.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "fatlink/live_module.hpp"
#include "fixtures.hpp"
#include "launching.hpp"
#include "measurements.hpp"
#include "swapping.hpp"

namespace stress {
namespace {

struct stress_options {
  std::string device = "cpu";
  unsigned threads = 8;
  launch_size size = {.elements = 64};
  swap_plan plan = {};
};

stress_options read_options(int count, char** words)
{
  stress_options options;
  std::map<std::string, std::size_t*> const numbers{
      {"--launches", &options.plan.launches}, {"--swaps", &options.plan.swaps},
      {"--broken", &options.plan.broken},     {"--killed", &options.plan.killed},
      {"--elements", &options.size.elements}, {"--batch", &options.size.batch}};
  for (int i = 1; i + 1 < count; i += 2) {
    std::string const word = words[i];
    if (word == "--device")
      options.device = words[i + 1];
    else if (word == "--threads")
      options.threads = static_cast<unsigned>(std::stoul(words[i + 1]));
    else
      *numbers.at(word) = std::stoul(words[i + 1]);
  }
  return options;
}

nlohmann::json memory_of(fatlink::device const& device)
{
  nlohmann::json memory{{"host_bytes", resident_bytes()}, {"device_free_bytes", nullptr}};
  if (device.info().kind == fatlink::device_kind::gpu)
    memory["device_free_bytes"] = free_gpu_bytes();
  return memory;
}

/// What each of the transforms writes.
expected_results measure_expected(fatlink::device const& device, fatlink::live_module& live,
                                  swapping& swaps, std::size_t elements)
{
  expected_results expected;
  latency_histogram latencies;
  live.swap(swaps.inputs(0));
  launching_thread thread(device, live.kernel<elementwise>("apply_transform"),
                          {.elements = elements});
  auto const measure = [&] {
    thread.launch(latencies);
    return std::vector(thread.results(0).begin(), thread.results(0).end());
  };
  expected.first = measure();
  live.swap(swaps.inputs(1));
  expected.second = measure();
  live.swap(swaps.inputs(0));
  for (std::size_t i = 0; i < elements; ++i)
    if (expected.first[i] == expected.second[i])
      throw std::logic_error("the transforms agree on an input");
  return expected;
}

/// States the phases on standard error, and the launches and swaps so far every 10 seconds, with
/// seconds since the start.
class progress {
 public:
  progress(launch_counts const& counts, swapping const& swaps) : counts_(counts), swaps_(swaps) {}

  void enter(char const* phase)
  {
    phase_ = phase;
    state();
  }

 private:
  using clock = std::chrono::steady_clock;

  void state() const
  {
    std::chrono::duration<double> const elapsed = clock::now() - start_;
    std::fprintf(stderr, "live_stress: %8.2f s: %s (%llu launches, %zu swaps)\n", elapsed.count(),
                 phase_.load(), static_cast<unsigned long long>(counts_.launches), swaps_.ended());
  }
  void state_repeatedly(std::stop_token const& stop) const
  {
    for (auto next = clock::now() + k_pause; !stop.stop_requested();
         std::this_thread::sleep_for(std::chrono::milliseconds(20)))
      if (clock::now() >= next) {
        state();
        next += k_pause;
      }
  }

  static constexpr std::chrono::seconds k_pause{10};
  launch_counts const& counts_;
  swapping const& swaps_;
  clock::time_point start_ = clock::now();
  std::atomic<char const*> phase_ = "begin";
  std::jthread thread_{[this](std::stop_token const& stop) { state_repeatedly(stop); }};
};

nlohmann::json counts_report(launch_counts const& counts)
{
  return {{"launches", counts.launches.load()},
          {"of_first", counts.of_first.load()},
          {"of_second", counts.of_second.load()},
          {"mixed", counts.mixed.load()},
          {"wrong", counts.wrong.load()},
          {"failed", counts.failed.load()},
          {"failure", counts.failure}};
}

int run(stress_options const& options)
{
  auto const device = fatlink::open_device(options.device);
  auto const link = device->link_options(fatlink::link_mode::lto);
  auto const cache = std::make_shared<fatlink::link_cache>(fatlink::cache_settings{});
  fatlink::live_module live(*device, fatlink::linker({.cache = cache}), {.link = link});
  fixtures::folder const folder;
  swapping swaps(live, link, folder.path());
  launch_counts counts;
  progress progress(counts, swaps);
  auto const expected = measure_expected(*device, live, swaps, options.size.elements);
  auto const kernel = live.kernel<elementwise>("apply_transform");
  launch_job const job{.device = *device,
                       .kernel = kernel,
                       .size = options.size,
                       .threads = options.threads,
                       .launches = options.plan.launches,
                       .expected = expected};
  progress.enter("swaps that fill the cache");
  swaps.run({.swaps = 20, .broken = 10, .killed = 1, .launches = 0}, counts);  // fills caches
  progress.enter("launches without swaps");
  latency_histogram quiet;
  launch_in_threads(job, counts, quiet, [] { return true; });
  auto const begin = memory_of(*device);
  progress.enter("launches with swaps");
  latency_histogram busy;
  std::atomic<bool> is_done = false;
  std::jthread swapping_thread([&] {
    swaps.run(options.plan, counts);
    is_done = true;
  });
  launch_in_threads(job, counts, busy, [&] { return is_done.load(); });
  swapping_thread.join();
  progress.enter("end");
  auto const end = memory_of(*device);
  auto const is_right = counts.mixed + counts.wrong + counts.failed == 0 && swaps.is_right();
  auto report = counts_report(counts);
  report.update({{"device", device->info().name},
                 {"threads", options.threads},
                 {"elements", options.size.elements},
                 {"batch", options.size.batch},
                 {"swaps", swaps.report()},
                 {"without_swaps", quiet.describe()},
                 {"with_swaps", busy.describe()},
                 {"p99_9_ratio", busy.percentile(0.999) / quiet.percentile(0.999)},
                 {"begin", begin},
                 {"end", end},
                 {"right", is_right}});
  std::printf("%s\n", report.dump(2).c_str());
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace stress

int main(int count, char** words)
try {
  return stress::run(stress::read_options(count, words));
} catch (std::exception const& failure) {
  std::fprintf(stderr, "live_stress: %s\n", failure.what());
  return EXIT_FAILURE;
}
