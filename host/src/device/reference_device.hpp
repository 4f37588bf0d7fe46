// SPDX-License-Identifier: Apache-2.0
// The reference device as a device_backend: fatlink's errors and images around cpu/machine.hpp.
#pragma once

#include <memory>

#include "fatlink/device.hpp"

namespace fatlink::detail {

/// `linked_for`: which links it takes; it executes what PTX for any target holds.
std::shared_ptr<device_backend> open_cpu(target linked_for, cpu_options const& options);

}  // namespace fatlink::detail
