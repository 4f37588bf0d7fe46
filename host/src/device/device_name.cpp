// SPDX-License-Identifier: Apache-2.0
#include "device/device_name.hpp"

#include <algorithm>
#include <charconv>

#include "device/misuse.hpp"
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

}  // namespace fatlink::detail
