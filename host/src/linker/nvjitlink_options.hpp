// SPDX-License-Identifier: Apache-2.0
// The options that a link passes to nvJitLink, one text each, in a fixed order: nvJitLink writes
// the options of ptxas into the cubin, so their order is part of its bytes.
#pragma once

#include <string>
#include <vector>

#include "fatlink/float_flags.hpp"
#include "fatlink/linker.hpp"

namespace fatlink::detail {

/// The float flags that an lto link compiles with: those that the inputs record, or `options`.
float_flags linked_float_flags(std::vector<fatbin> const& inputs, link_options const& options);

/// All options of the link: those that state the image, threads and the driver's cache.
std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options);

}  // namespace fatlink::detail
