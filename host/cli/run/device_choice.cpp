// SPDX-License-Identifier: Apache-2.0
#include "run/device_choice.hpp"

#include "util/process/stopwatch.hpp"

namespace fatlink::cli {

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

std::shared_ptr<device> device_choice::open(cpu_options const& options)
{
  choose();
  detail::stopwatch watch;
  auto opened = open_device(name_, options);
  ms_ += watch.lap();
  return opened;
}

opened_devices device_choice::open_all(cpu_options const& options)
{
  detail::stopwatch watch;
  auto opened = open_devices(name_, options);
  ms_ += watch.lap();
  return opened;
}

}  // namespace fatlink::cli
