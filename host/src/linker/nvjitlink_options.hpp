// SPDX-License-Identifier: Apache-2.0
// The options that a link passes to nvJitLink. They are part of the cache key (link_key in
// linker.hpp).
#pragma once

#include <string>
#include <vector>

#include "fatlink/linker.hpp"

namespace fatlink::detail {

/// nvJitLink's options in a fixed order: the architecture, and in LTO mode the float flags.
std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options);

}  // namespace fatlink::detail
