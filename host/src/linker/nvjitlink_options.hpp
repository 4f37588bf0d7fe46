// SPDX-License-Identifier: Apache-2.0
// The options that nvJitLink gets for a link. Threads: no shared state.
#pragma once

#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/float_flags.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// The float flags that an lto link compiles with: those that the inputs record, or `options`.
float_flags linked_float_flags(std::vector<fatbin> const& inputs, link_options const& options);

/// The options that state the image, which are part of the cache key (link_key.cpp):
/// the architecture; in lto mode the float flags, which `options` overrides or the inputs record;
/// and what else `options` sets. `options`: as check_link_options accepts them.
std::vector<std::string> image_options(std::vector<fatbin> const& inputs,
                                       link_options const& options);

/// All options of the link, one text each: those that state the image, threads and the driver's
/// cache. In a fixed order: nvJitLink writes the options of ptxas into the cubin, so their order is
/// part of its bytes.
std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options);

}  // namespace fatlink::detail
