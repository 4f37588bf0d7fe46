// SPDX-License-Identifier: Apache-2.0
#include "fatlink/devices.hpp"

#include <algorithm>
#include <charconv>
#include <future>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "base/wording.hpp"
#include "device/backends.hpp"
#include "device/device_checks.hpp"
#include "device/devices.hpp"
#include "fatlink/error.hpp"
#include "fatlink/target.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_devices = 1024;

[[noreturn]] void refuse_list(std::string_view names, std::string const& reason)
{
  fail_use(detail::format("device '{}': {}", names, reason), std::string(names),
           "write all, gpu:0,1, cpu,cpu or 4xcpu", error_code::unknown_device);
}

/// Removes "4x" of "4xcpu"; 1 without it. @throws usage_error a number of GPUs, 0, or too many.
std::size_t take_count(std::string_view& item, std::string_view names)
{
  std::size_t count = 0;
  auto const* const end = item.data() + item.size();
  auto const [rest, code] = std::from_chars(item.data(), end, count);
  if (rest == item.data() || rest == end || *rest != 'x') return 1;
  item.remove_prefix(static_cast<std::size_t>(rest - item.data()) + 1);
  if (code != std::errc{} || count == 0 || count > k_most_devices)
    refuse_list(names, detail::format("write a number from 1 to {} before x", k_most_devices));
  if (!item.starts_with("cpu"))
    refuse_list(names, "only reference devices have a number, as in 4xcpu");
  return count;
}

/// "gpu:1" of "1".
std::string canonical(std::string_view item)
{
  if (item == "cpu") return "cpu";
  if (item.starts_with("cpu:")) return detail::format("cpu:{}", target(item.substr(4)).name());
  return detail::format("gpu:{}", parse_ordinal(item));
}

void add_item(std::vector<std::string>& devices, std::string_view item, std::string_view names)
{
  if (item == "all")
    refuse_list(names, "all names every GPU and cannot be combined with other devices");
  auto const count = take_count(item, names);
  auto const device = canonical(item);
  if (device.starts_with("gpu") && std::ranges::find(devices, device) != devices.end())
    refuse_list(names, detail::format("names {} twice", device));
  devices.insert(devices.end(), count, device);
  if (devices.size() > k_most_devices)
    refuse_list(names, detail::format("names more than {} devices", k_most_devices));
}

}  // namespace

int parse_ordinal(std::string_view name)
{
  auto digits = name;
  if (digits == "gpu") return 0;
  if (digits.starts_with("gpu:")) digits.remove_prefix(4);
  int ordinal = 0;
  auto const* const end = digits.data() + digits.size();
  auto const [rest, code] = std::from_chars(digits.data(), end, ordinal);
  if (code == std::errc{} && rest == end && ordinal >= 0) return ordinal;
  fail_use(detail::format("device '{}': no such device", name), std::string(name),
           "write gpu, gpu:1, cpu or cpu:sm_80", error_code::unknown_device);
}

std::vector<std::string> parse_device_list(std::string_view names)
{
  std::vector<std::string> devices;
  for (std::size_t begin = 0; begin <= names.size();) {
    auto const end = std::min(names.find(',', begin), names.size());
    add_item(devices, names.substr(begin, end - begin), names);
    begin = end + 1;
  }
  return devices;
}

std::shared_ptr<linked_image const> shared_links::get(device_info const& device, link_mode mode)
{
  std::promise<std::shared_ptr<linked_image const>> promise;
  auto const [result, is_first] =
      enter({mode, device.target.name(), device.image_for(mode)}, promise.get_future().share());
  if (is_first) try {
      promise.set_value(std::make_shared<linked_image const>(link_(device, mode)));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  return result.get();
}

std::pair<shared_links::outcome, bool> shared_links::enter(key const& link, outcome const& own)
{
  std::lock_guard const lock(mutex_);
  auto const [entry, is_first] = links_.try_emplace(link, own);
  return {entry->second, is_first};
}

shared_images shared_links::images(link_mode mode) const
{
  shared_images images;
  for (auto const& [link, result] : links_) {
    if (std::get<link_mode>(link) != mode) continue;
    try {
      images.push_back(result.get());
    } catch (...) {  // the error is that of its devices
    }
  }
  return images;
}

void check_devices(opened_devices const& devices)
{
  for (auto const& device : devices)
    if (device && *device.value == nullptr)
      fail_use(detail::format("device '{}' is null", device.device), device.device,
               "pass what open_devices returns");
}

void run_on_threads(std::vector<std::size_t> const& numbers,
                    std::function<void(std::size_t)> const& call)
{
  std::promise<bool> is_complete;
  std::vector<std::jthread> threads;  // end before the promise
  auto const answer = is_complete.get_future().share();
  threads.reserve(numbers.size());
  try {
    for (auto const number : numbers)
      threads.emplace_back([answer, number, &call, words = current_wording()] {
        wording_scope const scope(words);
        if (answer.get()) call(number);
      });
  } catch (std::system_error const& cause) {
    is_complete.set_value(false);
    throw unavailable_error(
        stage::device,
        {.message = detail::format("cannot start a thread for each of {} devices: {}",
                                   numbers.size(), cause.code().message()),
         .code = error_code::out_of_memory,
         .hint = "use fewer devices, or raise the limits of processes and memory (ulimit -u, -v)"});
  } catch (...) {
    is_complete.set_value(false);
    throw;
  }
  is_complete.set_value(true);
}

}  // namespace fatlink::detail

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
