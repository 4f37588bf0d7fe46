// SPDX-License-Identifier: Apache-2.0
// What a texture or surface may be, whatever the device. Source of the rules: the CUDA programming
// guide, "Texture and Surface Memory", and cuda.h 13.0 at cuTexObjectCreate. What they leave open
// is refused. Units: texels, bytes where stated. Threads: safe.
#pragma once

#include <cstddef>

#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

/// `options` as a device takes them: without normalized coordinates wrap and mirror are clamp.
/// @throws usage_error they do not fit texels of `format`.
texture_options checked_options(texel_format const& format, texture_options options);

/// @throws usage_error as above, or the coordinates do not fit a cubemap.
texture_options checked_options(texel_format const& format, array_shape const& shape,
                                texture_options const& options);

/// Texels in `bytes` bytes of memory, read by index. @throws usage_error they are not aligned, not
/// whole, none or too many.
linear_texels checked_texels(device_address address, std::size_t bytes, texel_format const& format);

/// @throws usage_error `options` do not fit texels that are read by index.
void check_indexed(texture_options const& options);

/// @throws usage_error the rows are not aligned, overlap or exceed the memory.
linear_texels checked_texels(device_address address, std::size_t bytes, texel_format const& format,
                             pitched_shape const& shape);

}  // namespace fatlink::detail
