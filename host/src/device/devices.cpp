// SPDX-License-Identifier: Apache-2.0
#include "fatlink/devices.hpp"

#include <map>
#include <utility>

#include "device/device_name.hpp"
#include "device/gpu_info.hpp"
#include "device/link_options_for.hpp"
#include "device/misuse.hpp"
#include "device/on_each_device.hpp"
#include "device/shared_links.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// @throws unavailable_error the driver shows none.
std::vector<std::string> all_gpus()
{
  std::vector<std::string> names;
  for (auto const& gpu : detail::gpu_infos())
    names.push_back(detail::format("gpu:{}", gpu.ordinal));
  if (!names.empty()) return names;
  throw unavailable_error(stage::device,
                          {.message = "all: the driver shows no GPU",
                           .input = "all",
                           .code = error_code::gpu_unavailable,
                           .hint = "use reference devices, cpu,cpu; linking and inspecting need no "
                                   "GPU"});
}

/// The second of one name is "cpu#2".
std::vector<device_result<std::string>> numbered(std::vector<std::string> const& names)
{
  std::map<std::string, std::size_t> counts;
  std::vector<device_result<std::string>> rows;
  for (auto const& name : names) {
    auto const count = ++counts[name];
    rows.push_back(
        {.device = count == 1 ? name : detail::format("{}#{}", name, count), .value = name});
  }
  return rows;
}

error_details details_of(std::exception_ptr const& failure)
try {
  std::rethrow_exception(failure);
} catch (error const& cause) {
  return cause.details();
} catch (std::exception const& cause) {
  return {.message = cause.what(), .code = error_code::defect};
}

/// @throws the error of the only device, or one with the errors of all.
[[noreturn]] void fail_without_device(opened_devices const& devices, std::string_view names)
{
  if (devices.size() == 1) std::rethrow_exception(devices.front().failure);
  std::string reasons;
  for (auto const& device : devices)
    reasons += detail::format("{}{}: {}", reasons.empty() ? "" : "; ", device.device,
                              details_of(device.failure).message);
  auto const first = details_of(devices.front().failure);
  throw unavailable_error(
      stage::device,
      {.message = detail::format("none of {} devices could be opened: {}", devices.size(), reasons),
       .input = std::string(names),
       .code = first.code,
       .hint = first.hint});
}

}  // namespace

namespace detail {

void check_devices(opened_devices const& devices)
{
  for (auto const& device : devices)
    if (device && *device.value == nullptr)
      fail_use(detail::format("device '{}' is null", device.device), device.device,
               "pass what open_devices returns");
}

}  // namespace detail

bool names_several_devices(std::string_view names) noexcept
{
  auto const x = names.find('x');
  auto const has_count =
      x != std::string_view::npos && x != 0 && names.find_first_not_of("0123456789") == x;
  return names == "all" || names.find(',') != std::string_view::npos || has_count;
}

opened_devices open_devices(std::string_view names, cpu_options const& options)
{
  auto const rows = numbered(names == "all" ? all_gpus() : detail::parse_device_list(names));
  auto devices = detail::on_each_device<std::shared_ptr<device>>(
      rows, [&](std::string const& name, std::size_t) { return open_device(name, options); });
  for (auto const& device : devices)
    if (device) return devices;
  fail_without_device(devices, names);
}

opened_devices open_devices(char const* names, cpu_options const& options)
{
  return open_devices(names == nullptr ? std::string_view() : std::string_view(names), options);
}

loaded_devices link_and_load(opened_devices const& destinations, linker& linker,
                             std::vector<input> const& inputs, link_mode mode)
{
  check_link_mode(mode);
  detail::check_devices(destinations);
  detail::shared_links links([&](device_info const& device, link_mode device_mode) {
    return linker.link(inputs, detail::link_options_for(device, device_mode));
  });
  loaded_devices loaded;
  loaded.devices = detail::on_each_device<loaded_module>(
      destinations, [&](std::shared_ptr<device> const& destination, std::size_t) {
        return destination->load(*links.get(destination->info(), mode));
      });
  loaded.images = links.images(mode);
  return loaded;
}

}  // namespace fatlink
