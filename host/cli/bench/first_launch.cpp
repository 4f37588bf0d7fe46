// SPDX-License-Identifier: Apache-2.0
#include "bench/first_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bench/median.hpp"
#include "bench/plan_times.hpp"
#include "fatlink/live_plan.hpp"
#include "link_helper/helper_pool.hpp"
#include "run/execute_plan.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

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

/// Generated arguments of a plan, on the GPU.
struct plan_input {
  plan_input(bench_job const& job, device const& gpu, prepared_plan const& code)
      : call(generate_data(job, code, has_free_size(job) ? k_elements : 0)),
        extents(code.extents(size_arguments(call.data))),
        arrays(gpu, job.plan, call.data, extents)
  {
  }
  bench_data call;
  plan_extents extents;
  plan_arrays arrays;
};

measure_start plans_of(bench_job const& job, device const& gpu)
{
  auto const target = gpu.info().target;
  auto links = job.flags.linker();
  auto const code = prepare(gpu, job.plan, job.inputs,
                            links.link(job.inputs, job.make_options(target, link_mode::lto)));
  auto const input = std::make_shared<plan_input>(job, gpu, code);
  return [&job, &gpu, target, links, input](bool is_tiered) {
    live_plan live(gpu, links, settings_of(job, target, is_tiered));
    auto stream = gpu.create_stream();
    detail::stopwatch watch;
    auto const report = live.swap(job.inputs, {.plan = job.plan});
    live.run(stream, input->arrays.arguments());
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

void print_first_launch(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print(
      "\n| first launch, cold cache | helper | image, ms | launch, ms | times sooner |\n"
      "|---|---|---:|---:|---:|\n");
  auto const text = [](nlohmann::json const& number, int digits) {
    return number.is_null() ? std::string() : fmt::format("{:.{}f}", number.get<double>(), digits);
  };
  for (auto const& row : rows)
    fmt::print("| {} | {} | {} | {} | {} |\n", row["tiers"].get<std::string>(),
               row["helper"].get<std::string>(), text(row["image_ms"], 2),
               text(row["launch_ms"], 2), text(row["times_sooner"], 1));
}

}  // namespace fatlink::cli
