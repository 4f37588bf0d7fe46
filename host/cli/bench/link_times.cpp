// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.hpp"

// Times of links, of preflight, and until the first launch.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "code_report.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/live_plan.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/resources.hpp"
#include "link_helper/helper_pool.hpp"
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

/// A linker that links in this process.
linker in_this_process(bench_job const& job)
{
  auto flags = job.flags;
  flags.in_process = true;
  return flags.linker();
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
  auto in_process = in_this_process(job);
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
  auto linker = in_this_process(job);
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

constexpr std::size_t k_elements = std::size_t{1} << 20;

/// Time until the image is linked, and until the first launch has finished.
struct first_time {
  double image_ms = 0;
  std::optional<double> launch_ms = {};
};

/// Measures one start, with tiers or without.
using measure_start = std::function<first_time(bool is_tiered)>;

double image_ms(swap_report const& report)
{
  return report.times.check_ms + report.times.link_ms;
}

live_settings settings_of(bench_job const& job, target target, bool is_tiered)
{
  return {.link = job.make_options(target, link_mode::lto), .tiered = is_tiered};
}

link_options sass_options(bench_job const& job, target target)
{
  return {.target = target,
          .mode = link_mode::sass,
          .whole_archive = job.flags.options.whole_archive,
          .kernels = job.flags.options.kernels};
}

measure_start links_of(bench_job const& job, target target)
{
  return [&job, target, links = job.flags.linker()](bool is_tiered) mutable {
    detail::stopwatch watch;
    (void)links.link(job.inputs, is_tiered ? sass_options(job, target)
                                           : job.make_options(target, link_mode::lto));
    return first_time{.image_ms = watch.lap()};
  };
}

measure_start plans_of(bench_job const& job, device const& gpu)
{
  auto const target = gpu.info().target;
  auto links = job.flags.linker();
  auto const code = prepare(gpu, job.plan, job.inputs,
                            links.link(job.inputs, job.make_options(target, link_mode::lto)));
  auto const call =
      std::make_shared<bench_call>(job, gpu, code, job.has_free_size() ? k_elements : 0);
  return [&job, &gpu, target, links, call](bool is_tiered) {
    live_plan live(gpu, links, settings_of(job, target, is_tiered));
    auto stream = gpu.create_stream();
    detail::stopwatch watch;
    auto const report = live.swap(job.inputs, {.plan = job.plan});
    live.run(stream, call->arrays.arguments());
    stream.synchronize();
    first_time const time{.image_ms = image_ms(report), .launch_ms = watch.lap()};
    (void)live.wait_for_best();
    return time;
  };
}

/// Medians over the rounds, with and without tiers by turns. `starts_helper`: each link starts it.
nlohmann::json measure_rows(measure_start const& measure, unsigned rounds, bool starts_helper)
{
  std::vector<double> images[2];
  std::vector<double> launches[2];
  for (unsigned round = 0; round < rounds; ++round)
    for (auto const is_tiered : {false, true}) {
      if (starts_helper) detail::end_idle_helpers();
      auto const time = measure(is_tiered);
      images[is_tiered].push_back(time.image_ms);
      if (time.launch_ms) launches[is_tiered].push_back(*time.launch_ms);
    }
  auto rows = nlohmann::json::array();
  double without_tiers = 0;
  for (auto const is_tiered : {false, true}) {
    auto const image = median(images[is_tiered]);
    auto const has_launch = !launches[is_tiered].empty();
    auto const total = has_launch ? median(launches[is_tiered]) : image;
    rows.push_back({{"tiers", is_tiered ? "sass, then lto" : "lto"},
                    {"helper", starts_helper ? "started" : "running"},
                    {"image_ms", image},
                    {"launch_ms", nullptr},
                    {"times_sooner", nullptr}});
    if (has_launch) rows.back()["launch_ms"] = total;
    if (is_tiered)
      rows.back()["times_sooner"] = without_tiers / total;
    else
      without_tiers = total;
  }
  return rows;
}

/// Empty if tiers can be measured.
std::string why_not(bench_job const& job, target target)
{
  if (std::ranges::find(job.modes, link_mode::lto) == job.modes.end())
    return "lto is not among the modes";
  try {
    (void)job.flags.linker().link(job.inputs, sass_options(job, target));
  } catch (refused_error const& refusal) {
    return refusal.what();
  }
  return {};
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

nlohmann::json measure_first_launch(bench_job const& job, device const* gpu, target target,
                                    std::string& reason)
{
  auto rows = nlohmann::json::array();
  reason = why_not(job, target);
  if (!reason.empty()) return rows;
  auto const measure = gpu == nullptr ? links_of(job, target) : plans_of(job, *gpu);
  for (auto const is_tiered : {false, true}) (void)measure(is_tiered);
  for (auto const starts_helper : {false, true})
    for (auto& row : measure_rows(measure, job.rounds, starts_helper))
      rows.push_back(std::move(row));
  return rows;
}

}  // namespace fatlink::cli
