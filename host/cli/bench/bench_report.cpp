// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_report.hpp"

#include <fmt/format.h>

#include "bench/first_launch.hpp"
#include "bench/start_up.hpp"
#include "resources_report.hpp"

namespace fatlink::cli {
namespace {

void print_heading(nlohmann::json const& report)
{
  auto const& device = report["device"];
  auto const& driver = report["driver"];
  if (device.is_null())
    fmt::print("no GPU");
  else
    fmt::print("{} ({})", device["name"].get<std::string>(), device["target"].get<std::string>());
  if (!driver.is_null()) fmt::print(", driver CUDA {}", driver.get<std::string>());
  fmt::print(", nvJitLink {}, library {}, transform {}, medians of {} rounds\n\n",
             report["nvjitlink"].get<std::string>(), report["library"].get<std::string>(),
             report["transform"].get<std::string>(), report["rounds"].get<unsigned>());
}

void print_kernels(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print(
      "| elements | variant | µs | GB/s | of the copy rate | time over single source |\n"
      "|---:|---|---:|---:|---:|---:|\n");
  for (auto const& row : rows) {
    auto const& ratio = row["time_over_single_source"];
    fmt::print("| {} | {} | {:.2f} | {:.0f} | {:.3f} | {} |\n", row["elements"].get<std::size_t>(),
               row["variant"].get<std::string>(), row["us"].get<double>(),
               row["gb_per_s"].get<double>(), row["rate_over_copy"].get<double>(),
               ratio.is_null() ? "" : fmt::format("{:.4f}", ratio.get<double>()));
  }
}

void print_links(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print(
      "\n| link | first, ms | median, ms | in fatlink-linkd, ms | overhead, ms |\n"
      "|---|---:|---:|---:|---:|\n");
  for (auto const& row : rows)
    fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {:.2f} |\n", row["mode"].get<std::string>(),
               row["first_ms"].get<double>(), row["median_ms"].get<double>(),
               row["helper_median_ms"].get<double>(), row["helper_overhead_ms"].get<double>());
  for (auto const& row : rows) {
    if (!row.contains("resources")) continue;
    fmt::print("\nThe {} link:\n", row["mode"].get<std::string>());
    print_resources(row["resources"], "  ");
  }
}

void print_two_steps(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print("\n| link in two steps, by | first step, ms | last link, ms |\n|---|---:|---:|\n");
  for (auto const& row : rows)
    fmt::print("| {} | {:.2f} | {:.2f} |\n", row["emit"].get<std::string>(),
               row["step_ms"].get<double>(), row["last_ms"].get<double>());
}

void print_reference_device(nlohmann::json const& rate)
{
  if (rate.is_null()) return;
  fmt::print(
      "\n| reference device | million PTX instructions / s / core | million elements / s / core |\n"
      "|---|---:|---:|\n| {}, {} cores | {:.0f} | {:.1f} |\n",
      rate["mode"].get<std::string>(), rate["cores"].get<unsigned>(),
      rate["instructions_per_s_and_core"].get<double>() / 1e6,
      rate["elements_per_s_and_core"].get<double>() / 1e6);
}

}  // namespace

void print_bench(nlohmann::json const& report)
{
  print_heading(report);
  print_kernels(report["kernels"]);
  print_links(report["links"]);
  print_two_steps(report["two_steps"]);
  print_first_launch(report["first_launch"]);
  print_starts(report);
  if (auto const& ms = report["preflight_ms"]; !ms.is_null())
    fmt::print("\nPreflight of the pair: {:.3f} ms\n", ms.get<double>());
  print_reference_device(report["reference_device"]);
}

}  // namespace fatlink::cli
