// SPDX-License-Identifier: Apache-2.0
#include "run/device_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "error_report.hpp"
#include "options.hpp"
#include "run/devices_report.hpp"

namespace fatlink::cli {

std::size_t count_open(opened_devices const& devices)
{
  return static_cast<std::size_t>(
      std::ranges::count_if(devices, [](auto const& device) { return bool(device); }));
}

std::vector<device_run> divide_among(opened_devices const& devices, std::size_t count)
{
  auto const open = count_open(devices);
  if (count < open)
    fail_usage(fmt::format("{} element{} cannot be divided among {} devices", count,
                           count == 1 ? "" : "s", open),
               "--device", "run it on one device, or with more elements");
  auto const parts = divide(count, open);
  std::vector<device_run> rows;
  auto part = parts.begin();
  for (auto const& device : devices) {
    device_run row{.device = device.device, .failure = device.failure};
    if (device) {
      row.info = (*device.value)->info();
      row.part = *part++;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void check_options(run_links const& job, opened_devices const& devices, bool resources)
{
  for (auto const& device : devices)
    if (device) check_options(job, (*device.value)->info(), resources);
}

detail::shared_links share_links(run_links const& job)
{
  return detail::shared_links(
      [&job, linker = job.flags.linker()](device_info const& info, link_mode mode) {
        auto copy = linker;  // copies share everything
        return link_in_mode(copy, job, mode, info);
      });
}

void add_images(devices_run& run, detail::shared_links const& links)
{
  std::vector<std::string> warnings;
  for (auto const mode : run.modes) {
    run.images.push_back(links.images(mode));
    for (auto const& image : run.images.back())
      for (auto const& warning : image->warnings)
        if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
  }
  print_warnings(warnings);
  run.whole.warnings.insert(run.whole.warnings.end(), warnings.begin(), warnings.end());
}

void fail_if_shared(devices_run const& run)
{
  auto const& failure = run.devices.front().failure;
  auto const has_same = [&](device_run const& device) { return device.failure == failure; };
  if (failure && std::ranges::all_of(run.devices, has_same)) std::rethrow_exception(failure);
}

int report(devices_run const& run, bool json)
{
  if (json)
    print_json("fatlink.run-devices/1", to_json(run));
  else
    print_text(run);
  std::fflush(stdout);  // closing the devices takes time
  print_failures(run);
  return run.status();
}

}  // namespace fatlink::cli
