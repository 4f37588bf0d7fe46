// SPDX-License-Identifier: Apache-2.0
// Device names as open_device and open_devices take them. Threads: safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// The ordinal in "gpu" (0), "gpu:1" or "1". @throws usage_error another spelling.
int parse_ordinal(std::string_view name);

/// The devices of a list, each as open_device takes it, GPUs as "gpu:N": {"gpu:0", "gpu:1"} of
/// "gpu:0,1", {"cpu", "cpu"} of "2xcpu". Not "all".
/// @throws usage_error an item is not a device name, a GPU is named twice, or the list is too long.
std::vector<std::string> parse_device_list(std::string_view names);

}  // namespace fatlink::detail
