// SPDX-License-Identifier: Apache-2.0
#include "run/run_devices.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "device/device_name.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// What the driver says of a GPU before it has a context. Empty if there is no such GPU:
/// open_device throws the error.
std::optional<device_info> describe_gpu(std::string const& name)
{
  if (name.starts_with("cpu")) return std::nullopt;
  auto const ordinal = static_cast<std::size_t>(detail::parse_ordinal(name));
  std::string reason;
  auto const gpus = list_gpus(reason);
  if (ordinal >= gpus.size()) return std::nullopt;
  return gpus[ordinal];
}

/// Not valid if there can be no thread.
std::future<std::shared_ptr<device>> open_in_thread(std::string const& name,
                                                    cpu_options const& options)
try {
  return std::async(std::launch::async, [name, options] { return open_device(name, options); });
} catch (std::system_error const&) {
  return {};
}

}  // namespace

void device_choice::choose()
{
  if (!name_.empty()) return;
  detail::stopwatch watch;
  name_ = list_gpus(no_gpu_reason_).empty() ? "cpu" : "gpu";
  ms_ += watch.lap();
}

bool device_choice::is_reference_device()
{
  choose();
  return name_.find("cpu") != std::string::npos;
}

device_info device_choice::begin_open(cpu_options const& options)
{
  choose();
  detail::stopwatch watch;
  auto info = describe_gpu(name_);
  if (info) opening_ = open_in_thread(name_, options);
  if (!opening_.valid()) {
    opened_ = open_device(name_, options);
    info = opened_->info();
  }
  ms_ += watch.lap();
  return *info;
}

opened_devices device_choice::finish_open(cpu_options const& options)
{
  detail::stopwatch watch;
  opened_devices devices;
  if (is_list()) {
    devices = open_devices(name_, options);
  } else {
    if (opening_.valid()) opened_ = opening_.get();
    devices.push_back({.device = name_, .value = opened_});
  }
  ms_ += watch.lap();
  return devices;
}

std::size_t count_open(opened_devices const& devices)
{
  return static_cast<std::size_t>(
      std::ranges::count_if(devices, [](auto const& device) { return bool(device); }));
}

}  // namespace fatlink::cli
