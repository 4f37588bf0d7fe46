// SPDX-License-Identifier: Apache-2.0
// The options that a link passes to nvJitLink, one text each, in a fixed order: nvJitLink writes
// the options of ptxas into the cubin, so their order is part of its bytes.
#pragma once

#include <string>
#include <vector>

#include "fatlink/float_flags.hpp"
#include "fatlink/linker.hpp"

namespace fatlink::detail {

/// The options that state the image, which are part of the cache key (link_key in linker.hpp):
/// the architecture; in lto mode the float flags, which `options` overrides or the inputs record;
/// and what else `options` sets. `options`: as check_link_options accepts them.
std::vector<std::string> image_options(std::vector<fatbin> const& inputs,
                                       link_options const& options);

/// The float flags that an lto link compiles with: those that the inputs record, or `options`.
float_flags linked_float_flags(std::vector<fatbin> const& inputs, link_options const& options);

/// All options of the link: image_options(), threads and the driver's cache.
std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options);

}  // namespace fatlink::detail
