// SPDX-License-Identifier: Apache-2.0
// Which linked images a device loads. Threads: safe.
#pragma once

#include "fatlink/device_info.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

/// @throws device_error (code invalid-image) the device of `info` does not load images of this
///   kind: a GPU loads cubins, the reference device PTX and sets of PTX.
void check_image_kind(device_info const& info, linked_image const& image);

}  // namespace fatlink::detail
