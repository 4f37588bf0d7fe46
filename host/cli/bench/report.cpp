// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/start_up.hpp"

namespace fatlink::cli {

double median(std::vector<double> values)
{
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {

std::string device_text(nlohmann::json const& device)
{
  if (device.is_null()) return "no GPU";
  return fmt::format("{} ({})", device["name"].get<std::string>(),
                     device["target"].get<std::string>());
}

}  // namespace

void print_bench(nlohmann::json const& found)
{
  fmt::print("{}{}, nvJitLink {}, transform {}, medians of {} rounds\n\n",
             device_text(found["device"]),
             found["driver"].is_null() ? "" : ", driver CUDA " + found["driver"].get<std::string>(),
             found["nvjitlink"].get<std::string>(), found["transform"].get<std::string>(),
             found["rounds"].get<unsigned>());
  if (!found["kernels"].empty())
    fmt::print(
        "| elements | variant | µs | GB/s | of the copy rate | time over single source |\n"
        "|---:|---|---:|---:|---:|---:|\n");
  for (auto const& row : found["kernels"]) {
    auto const& over = row["time_over_single_source"];
    fmt::print("| {} | {} | {:.2f} | {:.0f} | {:.3f} | {} |\n", row["elements"].get<std::size_t>(),
               row["variant"].get<std::string>(), row["us"].get<double>(),
               row["gb_per_s"].get<double>(), row["rate_over_copy"].get<double>(),
               over.is_null() ? "" : fmt::format("{:.4f}", over.get<double>()));
  }
  fmt::print(
      "\n| link | first, ms | median, ms | in fatlink-linkd, ms | overhead, ms |\n"
      "|---|---:|---:|---:|---:|\n");
  for (auto const& row : found["links"])
    fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {:.2f} |\n", row["mode"].get<std::string>(),
               row["first_ms"].get<double>(), row["median_ms"].get<double>(),
               row["helper_median_ms"].get<double>(), row["helper_overhead_ms"].get<double>());
  print_starts(found["starts"]);
  fmt::print("\nPreflight of the pair: {:.3f} ms\n", found["preflight_ms"].get<double>());
  auto const& cpu = found["reference_device"];
  fmt::print(
      "\n| reference device | million PTX instructions / s / core | million elements / s / core |\n"
      "|---|---:|---:|\n| lto, {} cores | {:.0f} | {:.1f} |\n",
      cpu["cores"].get<unsigned>(), cpu["instructions_per_s_and_core"].get<double>() / 1e6,
      cpu["elements_per_s_and_core"].get<double>() / 1e6);
}

}  // namespace fatlink::cli
