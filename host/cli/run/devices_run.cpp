// SPDX-License-Identifier: Apache-2.0
#include "run/devices_run.hpp"

#include <algorithm>
#include <chrono>

#include "error_report.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

/// Whether a comparison was made.
bool is_compared(comparisons const& results)
{
  return std::ranges::any_of(results,
                             [](auto const& entry) { return entry.second.reason.empty(); });
}

bool is_wrong(comparisons const& results)
{
  return std::ranges::any_of(results, [](auto const& entry) { return entry.second.failures != 0; });
}

}  // namespace

std::optional<bool> is_verified(mode_on_device const& mode)
{
  if (mode.against_reference) return mode.against_reference->verified();
  if (is_wrong(mode.references) || is_wrong(mode.expectations)) return false;
  if (is_compared(mode.references) || is_compared(mode.expectations)) return true;
  return std::nullopt;
}

bool devices_run::has_results() const
{
  return std::ranges::any_of(devices,
                             [](device_run const& device) { return !device.modes.empty(); });
}

bool devices_run::verified() const
{
  if (is_wrong(between) || (whole.results.between && !whole.results.between->verified()))
    return false;
  return std::ranges::none_of(devices, [](device_run const& device) {
    return std::ranges::any_of(device.modes, [](mode_on_device const& mode) {
      return is_verified(mode) == std::optional(false);
    });
  });
}

bool devices_run::is_complete() const
{
  return std::ranges::none_of(devices, [](device_run const& device) {
    return device.failure != nullptr && device.part.count != 0;
  });
}

int devices_run::status() const
{
  auto status = static_cast<int>(verified() ? k_done : k_not_verified);
  for (auto const& device : devices)
    if (device.failure) status = std::max(status, report_of(device.failure).status);
  return status;
}

mode_total total_of(devices_run const& run, std::size_t index)
{
  mode_total total;
  time_span span;
  for (auto const& device : run.devices) {
    if (device.modes.size() <= index) continue;
    auto const& mode = device.modes[index];
    auto const is_first = total.devices++ == 0;
    total.elements += device.part.count;
    total.run_ms = std::max(total.run_ms, mode.run_ms);
    span.begin = is_first ? mode.measured.begin : std::min(span.begin, mode.measured.begin);
    span.end = std::max(span.end, mode.measured.end);
  }
  total.span_ms = std::chrono::duration<double, std::milli>(span.end - span.begin).count();
  return total;
}

}  // namespace fatlink::cli
