// SPDX-License-Identifier: Apache-2.0
// The image of a link that is an input of another link. Threads: no shared state.
#pragma once

#include <vector>

#include "fatlink/linker.hpp"

namespace fatlink::detail {

/// A fatbin of `image`, the LTO-IR or relocatable cubin that nvJitLink made of `inputs`, for the
/// target of `options`: with digests, the float flags of the link, and the contract that the inputs
/// state, which preflight has compared.
/// @throws format_error `image` is not what `options` ask for.
byte_buffer write_partial_image(bytes_view image, std::vector<fatbin> const& inputs,
                                link_options const& options);

}  // namespace fatlink::detail
