// SPDX-License-Identifier: Apache-2.0
// How to link for a device. Threads: safe.
#pragma once

#include "fatlink/device_info.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// The target of `device`, and the kind of image that it loads in `mode`.
[[nodiscard]] inline link_options link_options_for(device_info const& device, link_mode mode)
{
  return {.target = device.target, .mode = mode, .emit = device.image_for(mode)};
}

}  // namespace fatlink::detail
