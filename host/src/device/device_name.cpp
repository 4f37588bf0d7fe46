// SPDX-License-Identifier: Apache-2.0
#include "device/device_name.hpp"

#include <charconv>

#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

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

}  // namespace fatlink::detail
