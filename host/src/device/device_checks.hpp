// SPDX-License-Identifier: Apache-2.0
// What any device checks: the kind of an image, dynamic shared memory, and whether objects are of
// one device. Threads: safe.
#pragma once

#include <cstddef>
#include <string>

#include "fatlink/device_backend.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/error.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

/// @throws device_error (code invalid-image) the device of `info` does not load images of this
///   kind: a GPU loads cubins, the reference device PTX and sets of PTX.
void check_image_kind(device_info const& info, linked_image const& image);

/// @throws device_error (`code`) a launch of `kernel` asks for more than `limit`.
void check_dynamic_shared(std::string const& kernel, std::size_t bytes, std::size_t limit,
                          code_text const& code);

/// True also for two backends of one GPU: both use its primary context.
bool is_same_device(device_backend const& a, device_backend const& b) noexcept;

/// @throws usage_error they are different devices; `object` ("the stream") is for the message.
void check_same_device(device_backend const& expected, device_backend const& actual,
                       char const* object);

}  // namespace fatlink::detail
