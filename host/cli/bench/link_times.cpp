// SPDX-License-Identifier: Apache-2.0
#include "bench/link_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/median.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/resources.hpp"
#include "resources_report.hpp"
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

link_time time_link(linker& linker, std::vector<input> const& inputs, link_options const& options,
                    linked_image& image)
{
  auto const total_ms = measure_ms([&] { image = linker.link(inputs, options); });
  return {.total_ms = total_ms, .nvjitlink_ms = image.link_ms};
}

struct mode_times {
  double first_ms = 0;
  std::vector<double> in_process = {};
  std::vector<double> in_helper = {};
  std::vector<double> overhead = {};
  linked_image image = {};
};

/// One round more than `rounds`: the first link opens nvJitLink.
mode_times time_mode(bench_job const& job, link_options const& options)
{
  auto own_flags = job.flags;
  own_flags.in_process = true;
  auto in_process = own_flags.linker();
  auto in_helper = job.flags.linker();
  mode_times times;
  for (unsigned round = 0; round <= job.rounds; ++round) {
    auto const process_time = time_link(in_process, job.inputs, options, times.image);
    auto const helper_time = time_link(in_helper, job.inputs, options, times.image);
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

/// The inputs of the last link, of which `step` links each, or only the library, before.
std::vector<input> make_partial(linker& linker, std::vector<input> const& inputs,
                                link_options const& step)
{
  std::vector<input> results;
  for (auto const& input : inputs) {
    auto const is_linked = results.empty() || step.emit == image_kind::relocatable;
    results.push_back(is_linked ? input::from_bytes(linker.link({input}, step).bytes, input.name())
                                : input);
  }
  return results;
}

/// A row of measure_two_steps.
nlohmann::json time_two_steps(bench_job const& job, link_options const& step,
                              link_options const& last)
{
  auto own_flags = job.flags;
  own_flags.in_process = true;
  auto linker = own_flags.linker();
  std::vector<double> step_times;
  std::vector<double> last_times;
  for (unsigned round = 0; round <= job.rounds; ++round) {
    std::vector<input> inputs;
    auto const step_ms = measure_ms([&] { inputs = make_partial(linker, job.inputs, step); });
    auto const last_ms = measure_ms([&] { (void)linker.link(inputs, last); });
    if (round == 0) continue;
    step_times.push_back(step_ms);
    last_times.push_back(last_ms);
  }
  return {{"emit", to_string(step.emit)},
          {"step_ms", median(step_times)},
          {"last_ms", median(last_times)}};
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

nlohmann::json measure_links(bench_job const& job, target target, bool resources)
{
  auto rows = nlohmann::json::array();
  std::vector<std::string> warnings;
  for (auto const mode : job.modes) {
    auto const times = time_mode(job, job.make_options(target, mode));
    for (auto const& warning : times.image.warnings)
      if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        warnings.push_back(warning);
    rows.push_back({{"mode", to_string(mode)},
                    {"first_ms", times.first_ms},
                    {"median_ms", median(times.in_process)},
                    {"helper_median_ms", median(times.in_helper)},
                    {"helper_overhead_ms", median(times.overhead)}});
    if (resources) rows.back()["resources"] = describe_resources(fatlink::resources(times.image));
  }
  print_warnings(warnings);
  return rows;
}

nlohmann::json measure_two_steps(bench_job const& job, target target)
{
  auto rows = nlohmann::json::array();
  if (std::ranges::find(job.modes, link_mode::lto) == job.modes.end()) return rows;
  auto const add = [&](image_kind emit, link_options const& last) {
    try {
      rows.push_back(
          time_two_steps(job, {.target = target, .mode = link_mode::lto, .emit = emit}, last));
    } catch (unavailable_error const&) {  // an older nvJitLink
    } catch (error const& failed) {
      print_warnings({fmt::format("the link in two steps by {} is skipped: {}", to_string(emit),
                                  failed.what())});
    }
  };
  add(image_kind::ltoir, job.make_options(target, link_mode::lto));
  add(image_kind::relocatable, {.target = target, .mode = link_mode::sass});
  return rows;
}

double measure_preflight(bench_job const& job, target target)
{
  auto const modules = job.modules(target);
  std::vector<double> times;
  for (unsigned round = 0; round < job.rounds; ++round) {
    auto const inputs = copy_unread(modules);
    times.push_back(measure_ms([&] {
      (void)preflight(inputs, {.target = target,
                               .mode = job.modes.back(),
                               .allow_calls = job.flags.options.allow_calls,
                               .kernels = job.plan.kernels(),
                               .linker = toolkit_version{13, 0}});
    }));
  }
  return median(times);
}

}  // namespace fatlink::cli
