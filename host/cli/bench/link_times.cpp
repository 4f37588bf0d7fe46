// SPDX-License-Identifier: Apache-2.0
#include "bench/link_times.hpp"

#include <chrono>

#include "bench/median.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"
#include "installed.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

template <typename Work>
double measure_ms(Work const& work)
{
  detail::stopwatch watch;
  work();
  return watch.lap();
}

/// A link's wall time, and the part of it that nvJitLink took.
struct link_time {
  double total_ms = 0;
  double nvjitlink_ms = 0;

  [[nodiscard]] double overhead_ms() const { return total_ms - nvjitlink_ms; }
};

link_time time_link(linker& linker, std::vector<fatbin> const& pair, link_options const& options)
{
  link_time time;
  time.total_ms = measure_ms([&] { time.nvjitlink_ms = linker.link(pair, options).link_ms; });
  return time;
}

struct mode_times {
  double first_ms = 0;
  std::vector<double> in_process = {};
  std::vector<double> in_helper = {};
  std::vector<double> overhead = {};
};

/// One round more than `rounds`: the first link opens nvJitLink.
mode_times time_mode(std::vector<fatbin> const& pair, link_options const& options, unsigned rounds)
{
  linker in_process({.isolation = isolation::in_process});
  linker in_helper;
  mode_times times;
  for (unsigned round = 0; round <= rounds; ++round) {
    auto const process_time = time_link(in_process, pair, options);
    auto const helper_time = time_link(in_helper, pair, options);
    if (round == 0) {
      times.first_ms = process_time.total_ms;
      continue;
    }
    times.in_process.push_back(process_time.total_ms);
    times.in_helper.push_back(helper_time.total_ms);
    times.overhead.push_back(helper_time.overhead_ms() - process_time.overhead_ms());
  }
  return times;
}

std::vector<fatbin> copy_unread(std::vector<fatbin> const& inputs)
{
  std::vector<fatbin> copies;
  for (auto const& input : inputs)
    copies.push_back(
        fatbin::from_bytes({input.bytes().begin(), input.bytes().end()}, input.name()));
  return copies;
}

}  // namespace

nlohmann::json measure_links(std::vector<fatbin> const& pair,
                             std::vector<link_options> const& links, unsigned rounds)
{
  auto rows = nlohmann::json::array();
  for (auto const& options : links) {
    auto const times = time_mode(pair, options, rounds);
    rows.push_back({{"mode", to_string(options.mode)},
                    {"first_ms", times.first_ms},
                    {"median_ms", median(times.in_process)},
                    {"helper_median_ms", median(times.in_helper)},
                    {"helper_overhead_ms", median(times.overhead)}});
  }
  return rows;
}

double measure_preflight(std::vector<fatbin> const& pair, target target, unsigned rounds)
{
  std::vector<double> times;
  for (unsigned round = 0; round < rounds; ++round) {
    auto const inputs = copy_unread(pair);
    times.push_back(measure_ms([&] {
      (void)preflight(inputs, {.target = target,
                               .mode = link_mode::lto,
                               .kernels = {k_default_kernel},
                               .linker = toolkit_version{13, 0}});
    }));
  }
  return median(times);
}

}  // namespace fatlink::cli
