// SPDX-License-Identifier: Apache-2.0
// The reference device as a device_backend: the interpreter behind fatlink's errors and images.
// Threads: safe.
#pragma once

#include <memory>

#include "fatlink/device.hpp"

namespace fatlink::detail {

/// `link_target`: the target that device_info states; PTX for every target is executed.
std::shared_ptr<device_backend> open_cpu(target link_target, cpu_options const& options);

}  // namespace fatlink::detail
