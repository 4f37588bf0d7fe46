// SPDX-License-Identifier: Apache-2.0
// Whether objects of one device can be used with another. Threads: safe.
#pragma once

#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

/// True also for two backends of one GPU: both use its primary context.
bool is_same_device(device_backend const& a, device_backend const& b) noexcept;

/// @throws usage_error they are different devices; `object` ("the stream") is for the message.
void check_same_device(device_backend const& expected, device_backend const& actual,
                       char const* object);

}  // namespace fatlink::detail
