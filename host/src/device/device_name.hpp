// SPDX-License-Identifier: Apache-2.0
// Device names as open_device takes them. Threads: safe.
#pragma once

#include <string_view>

namespace fatlink::detail {

/// The ordinal in "gpu" (0), "gpu:1" or "1". @throws usage_error another spelling.
int parse_ordinal(std::string_view name);

}  // namespace fatlink::detail
