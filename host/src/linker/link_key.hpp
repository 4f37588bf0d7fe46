// SPDX-License-Identifier: Apache-2.0
// What a link asks of nvJitLink, and with that the key that the cache knows it by (link_key,
// declared in linker.hpp).
#pragma once

#include <string>
#include <vector>

#include "fatlink/linker.hpp"

namespace fatlink::detail {

/// nvJitLink's own options, in one order: the architecture, and in LTO mode the float flags.
std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options);

}  // namespace fatlink::detail
